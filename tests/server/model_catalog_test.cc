// Whom a name and a version find, and what the index says of the others.
#include "server/models/model_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trelu::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelState State(const std::string& name, std::int64_t version, std::string reason = "") {
  Model model;
  model.name = name;
  model.version = version;
  return {name, version, std::make_shared<const Model>(model), std::move(reason)};
}

ModelState NotReady(const std::string& name, std::int64_t version, std::string reason) {
  return {name, version, nullptr, std::move(reason)};
}

std::vector<std::string> Lines(const std::vector<ModelState>& index) {
  std::vector<std::string> lines;
  for (const ModelState& state : index) {
    if (state.name.starts_with("thresholded_relu_")) continue;
    lines.push_back(state.name + "/" + std::to_string(state.version) + " " +
                    std::string(state.state()) + " " + state.reason);
  }
  return lines;
}

// Versions 2 and 10 are ready, 1 and 12 are not.
class Catalog : public ::testing::Test {
 protected:
  Catalog() {
    catalog.Publish({State("m", 10), NotReady("m", 12, "broken\n"), State("m", 2, "newer refused"),
                     NotReady("m", 1, "unloaded"), NotReady("gone", 3, "unloaded"),
                     NotReady("gone", 2, "other"), NotReady("closed", 0, "cannot list")});
  }

  ModelCatalog catalog;
};

struct Found {
  const char* name;
  const char* model;
  const char* version;
  std::int64_t found;  // -1: none
  absl::StatusCode code = absl::StatusCode::kOk;
  const char* message = "";
};

class CatalogFind : public Catalog, public ::testing::WithParamInterface<Found> {};

TEST_P(CatalogFind, Version) {
  const auto found = catalog.Find(GetParam().model, GetParam().version);
  ASSERT_EQ(found.status().code(), GetParam().code) << found.status();
  if (found.ok()) {
    EXPECT_EQ((*found)->name, GetParam().model);
    EXPECT_EQ((*found)->version, GetParam().found);
  } else {
    EXPECT_EQ(std::string(found.status().message()), GetParam().message);
  }
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

INSTANTIATE_TEST_SUITE_P(
    All, CatalogFind,
    ::testing::ValuesIn(std::vector<Found>{
        {"BuiltIn", "thresholded_relu", "", 1},
        {"BuiltInByVersion", "thresholded_relu_fp64", "1", 1},
        {"HighestReady", "m", "", 10},
        {"ByNumberNotText", "m", "2", 2},
        {"LeadingZeros", "m", "0010", 10},
        {"NewFileRefused", "m", "2", 2},
        {"NotReady", "m", "12", -1, kUnavailable, "model 'm' version 12: not ready: broken\\x0a"},
        {"NoneReady", "gone", "", -1, kUnavailable, "model 'gone' version 3: not ready: unloaded"},
        {"NotListed", "closed", "", -1, kUnavailable, "model 'closed': not ready: cannot list"},
        {"NotListedByVersion", "closed", "1", -1, kNotFound, "model 'closed' version 1: unknown"},
        {"UnknownVersion", "m", "3", -1, kNotFound, "model 'm' version 3: unknown"},
        {"VersionZero", "m", "0", -1, kNotFound, "model 'm' version 0: unknown"},
        {"UnknownName", "n\n", "", -1, kNotFound, "model 'n\\x0a': unknown"},
        {"NoName", "", "", -1, kNotFound, "model '': unknown"},
        {"NegativeVersion", "m", "-1", -1, kInvalid,
         "model_version = '-1': expected a number >= 0, or nothing for the highest"},
        {"SignedVersion", "m", "+2", -1, kInvalid,
         "model_version = '+2': expected a number >= 0, or nothing for the highest"},
        {"BlankInVersion", "m", " 2", -1, kInvalid,
         "model_version = ' 2': expected a number >= 0, or nothing for the highest"},
        {"VersionWithAPoint", "m", "2.0", -1, kInvalid,
         "model_version = '2.0': expected a number >= 0, or nothing for the highest"},
        {"VersionTooLarge", "m", "9223372036854775808", -1, kInvalid,
         "model_version = '9223372036854775808': expected a number >= 0, or nothing for the "
         "highest"},
    }),
    [](const auto& tested) { return tested.param.name; });

TEST_F(Catalog, CutsWhatClientsSay) {
  const std::string text(100000, '7');
  EXPECT_LT(catalog.Find(text, "").status().message().size(), 512U);
  EXPECT_LT(catalog.Find("m", text).status().message().size(), 512U);
}

TEST_F(Catalog, ReadyVersionsAscend) {
  const auto versions_of = [this](const char* name) {
    std::vector<std::int64_t> versions;
    for (const auto& model : catalog.Ready(name)) versions.push_back(model->version);
    return versions;
  };
  EXPECT_THAT(versions_of("m"), ElementsAre(2, 10));
  EXPECT_THAT(versions_of("gone"), IsEmpty());
  EXPECT_THAT(versions_of("unknown"), IsEmpty());
  EXPECT_THAT(versions_of("thresholded_relu"), ElementsAre(1));
  EXPECT_THAT(versions_of(""), ElementsAre(2, 10, 1, 1, 1, 1, 1));
}

TEST_F(Catalog, IndexIsSorted) {
  EXPECT_THAT(Lines(catalog.Index(false)),
              ElementsAre("closed/0 UNAVAILABLE cannot list", "gone/2 UNAVAILABLE other",
                          "gone/3 UNAVAILABLE unloaded", "m/1 UNAVAILABLE unloaded",
                          "m/2 READY newer refused", "m/10 READY ", "m/12 UNAVAILABLE broken\n",
                          "thresholded_relu/1 READY "));
  EXPECT_THAT(Lines(catalog.Index(true)),
              ElementsAre("m/2 READY newer refused", "m/10 READY ", "thresholded_relu/1 READY "));
}

TEST_F(Catalog, PublishingReplacesAllButTheBuiltIn) {
  catalog.Publish({State("n", 1)});
  EXPECT_THAT(Lines(catalog.Index(false)), ElementsAre("n/1 READY ", "thresholded_relu/1 READY "));
  EXPECT_EQ(catalog.Find("m", "").status().code(), kNotFound);
}

TEST_F(Catalog, KeepsItsOwnModelBesideOneOfTheSameName) {
  const auto own = *catalog.Find("thresholded_relu", "");
  catalog.Publish(
      {State("thresholded_relu", 1, "not yours"), NotReady("thresholded_relu", 2, "nor this")});
  EXPECT_EQ(*catalog.Find("thresholded_relu", ""), own);
  EXPECT_THAT(Lines(catalog.Index(false)), ElementsAre("thresholded_relu/1 READY not yours",
                                                       "thresholded_relu/2 UNAVAILABLE nor this"));
  catalog.Publish({});
  EXPECT_THAT(Lines(catalog.Index(false)), ElementsAre("thresholded_relu/1 READY "));
}

TEST_F(Catalog, WhatWasFoundOutlivesItsPlace) {
  const auto model = *catalog.Find("m", "");
  catalog.Publish({});
  EXPECT_EQ(model->version, 10);
}

TEST_F(Catalog, KnowsWhatIsBuiltIn) {
  EXPECT_TRUE(catalog.IsBuiltIn("thresholded_relu"));
  EXPECT_TRUE(catalog.IsBuiltIn("thresholded_relu_bf16"));
  EXPECT_FALSE(catalog.IsBuiltIn("m"));
  EXPECT_FALSE(catalog.IsBuiltIn(""));
}

}  // namespace
}  // namespace trelu::server
