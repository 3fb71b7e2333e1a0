// A server with a model repository over the wire: what it says of a file's model, and what it does
// not let callers change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/server/onnx_models.h"
#include "tests/support/in_process_server.h"
#include "tests/support/inference_methods.h"

namespace trelu::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Model "m" with versions 2 and 10, whose alphas are 0.1 and -2.5.
class InferenceRepository : public ::testing::Test {
 protected:
  InferenceRepository() {
    Write(2, 0.1F);
    Write(10, -2.5F);
    server::Options options = TestOptions();
    options.model_repository = directory_.string();
    options.model_repository_poll = std::chrono::milliseconds(0);
    server_.emplace(options);
    client_.emplace(server_->target());
  }
  ~InferenceRepository() override {
    server_.reset();
    fs::remove_all(directory_);
  }

  template <typename Response, typename Request>
  Told<Response> AskOf(const std::string& method, const std::string& version) {
    Request request;
    request.set_name("m");
    request.set_version(version);
    return Ask<Response>(*client_, method, request);
  }

  std::optional<NativeClient> client_;

 private:
  static fs::path NewDirectory() {
    std::string pattern = (fs::temp_directory_path() / "models-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    return pattern;
  }
  void Write(int version, float alpha) const {
    const fs::path folder = directory_ / "m" / std::to_string(version);
    fs::create_directories(folder);
    std::ofstream(folder / "model.onnx", std::ios::binary)
        << ChainModel({alpha}).SerializeAsString();
  }

  const fs::path directory_ = NewDirectory();
  std::optional<InProcessServer> server_;
};

TEST_F(InferenceRepository, MetadataAndConfigTellTheFilesAlpha) {
  for (const auto& [version, alpha] : {std::pair("2", "0.1"), {"10", "-2.5"}, {"", "-2.5"}}) {
    SCOPED_TRACE(version);
    const auto metadata = AskOf<inference::ModelMetadataResponse, inference::ModelMetadataRequest>(
                              "ModelMetadata", version)
                              .response;
    EXPECT_THAT(metadata.versions(), ElementsAre("2", "10"));
    EXPECT_THAT(metadata.properties(), ElementsAre(::testing::Pair("alpha", alpha)));
    const auto config =
        AskOf<inference::ModelConfigResponse, inference::ModelConfigRequest>("ModelConfig", version)
            .response.config();
    ASSERT_EQ(config.parameters().count("alpha"), 1U);
    EXPECT_EQ(config.parameters().at("alpha").string_value(), alpha);
  }
}

TEST_F(InferenceRepository, StatisticsAreOfAllVersionsOrOfTheOneNamed) {
  const auto versions = [this](const std::string& asked) {
    std::vector<std::string> told;
    const auto statistics =
        AskOf<inference::ModelStatisticsResponse, inference::ModelStatisticsRequest>(
            "ModelStatistics", asked)
            .response;
    for (const auto& model : statistics.model_stats()) told.push_back(model.version());
    return told;
  };
  EXPECT_THAT(versions(""), ElementsAre("2", "10"));
  EXPECT_THAT(versions("2"), ElementsAre("2"));
  EXPECT_THAT(versions("10"), ElementsAre("10"));
}

TEST_F(InferenceRepository, ThereIsOneRepositoryWithoutAName) {
  inference::RepositoryIndexRequest index;
  inference::RepositoryModelLoadRequest load;
  inference::RepositoryModelUnloadRequest unload;
  load.set_model_name("m");
  unload.set_model_name("m");
  const auto expect = [&](grpc::StatusCode code, const char* named) {
    for (const grpc::Status& status :
         {Ask<inference::RepositoryIndexResponse>(*client_, "RepositoryIndex", index).status,
          Ask<inference::RepositoryModelLoadResponse>(*client_, "RepositoryModelLoad", load).status,
          Ask<inference::RepositoryModelUnloadResponse>(*client_, "RepositoryModelUnload", unload)
              .status}) {
      EXPECT_EQ(status.error_code(), code) << status.error_message();
      EXPECT_THAT(status.error_message(), HasSubstr(named));
    }
  };
  expect(grpc::OK, "");
  index.set_repository_name("models");
  load.set_repository_name("models");
  unload.set_repository_name("models");
  expect(grpc::UNIMPLEMENTED, "repository_name");
}

TEST_F(InferenceRepository, LoadTakesNeitherConfigNorFiles) {
  for (const char* name : {"config", "file:1/model.onnx", "unload_dependents"}) {
    inference::RepositoryModelLoadRequest request;
    request.set_model_name("m");
    (*request.mutable_parameters())[name].set_string_param("{}");
    const grpc::Status status =
        Ask<inference::RepositoryModelLoadResponse>(*client_, "RepositoryModelLoad", request)
            .status;
    EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED) << name;
    EXPECT_THAT(status.error_message(), HasSubstr(name));
  }
}

TEST_F(InferenceRepository, UnloadTakesTheParameterThatChangesNothing) {
  inference::RepositoryModelUnloadRequest request;
  request.set_model_name("m");
  (*request.mutable_parameters())["unload_dependents"].set_bool_param(true);
  const auto unload = [&] {
    return Ask<inference::RepositoryModelUnloadResponse>(*client_, "RepositoryModelUnload", request)
        .status;
  };
  EXPECT_TRUE(unload().ok());
  (*request.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(unload().error_code(), grpc::UNIMPLEMENTED);
}

}  // namespace
}  // namespace trelu::testing
