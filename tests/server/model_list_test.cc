// What /models says of the catalog.
#include "server/models/model_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trelu::server {
namespace {

using ::testing::ElementsAre;

ModelState State(const std::string& name, std::int64_t version, bool ready,
                 const std::string& reason) {
  return {name, version, ready ? std::make_shared<const Model>() : nullptr, reason};
}

std::vector<std::string> Lines(const nlohmann::json& list) {
  std::vector<std::string> lines;
  for (const auto& model : list["models"]) {
    lines.push_back(model["name"].get<std::string>() + "/" + model["version"].get<std::string>() +
                    " " + model["state"].get<std::string>() + " " +
                    model["reason"].get<std::string>());
  }
  return lines;
}

const std::vector<ModelState> kIndex = {
    State("a", 1, true, ""), State("b", 7, false, "unloaded"), State("c", 1, true, ""),
    State("d", std::numeric_limits<std::int64_t>::max(), true, "newer refused"),
    State("e", 0, false, "no version")};

TEST(ModelListTest, BeginsWithThoseThatHaveAReason) {
  const auto list = nlohmann::json::parse(ModelListJson(kIndex, 100));
  EXPECT_THAT(Lines(list),
              ElementsAre("b/7 UNAVAILABLE unloaded", "d/9223372036854775807 READY newer refused",
                          "e/ UNAVAILABLE no version", "a/1 READY ", "c/1 READY "));
  EXPECT_EQ(list["total"], 5);
  EXPECT_EQ(list["ready"], 3);
}

TEST(ModelListTest, CountsAlsoWhatItLeavesOut) {
  const auto list = nlohmann::json::parse(ModelListJson(kIndex, 2));
  EXPECT_THAT(Lines(list),
              ElementsAre("b/7 UNAVAILABLE unloaded", "d/9223372036854775807 READY newer refused"));
  EXPECT_EQ(list["total"], 5);
  EXPECT_EQ(list["ready"], 3);
}

TEST(ModelListTest, IsThereWithoutAnyModel) {
  EXPECT_EQ(ModelListJson({}, 100), "{\"models\":[],\"ready\":0,\"total\":0}\n");
}

TEST(ModelListTest, SurvivesAnyBytes) {
  const auto list =
      nlohmann::json::parse(ModelListJson({State("\"\\<\xff", 1, false, "a\n\"b\"")}, 1));
  EXPECT_THAT(Lines(list), ElementsAre("\"\\<\xef\xbf\xbd/1 UNAVAILABLE a\n\"b\""));
}

}  // namespace
}  // namespace trelu::server
