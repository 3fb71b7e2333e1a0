// A directory of model files, a catalog, and a repository between them, for tests.
#ifndef TRELU_TESTS_SERVER_MODEL_DIRECTORY_H_
#define TRELU_TESTS_SERVER_MODEL_DIRECTORY_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/models/model_repository.h"
#include "tests/server/onnx_models.h"

namespace trelu::testing {

inline constexpr std::chrono::milliseconds kNoThread{0};

class ModelDirectory : public ::testing::Test {
 protected:
  ModelDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "models-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) root = pattern;
    directory = root;
  }
  ~ModelDirectory() override {
    repository.reset();
    std::filesystem::remove_all(root);
  }

  void Start(std::chrono::milliseconds interval = kNoThread) {
    auto started = server::ModelRepository::Start(directory, interval, catalog);
    ASSERT_TRUE(started.ok()) << started.status();
    repository = *std::move(started);
  }

  std::filesystem::path File(const std::string& model) const {
    return directory / model / "model.onnx";
  }

  // Bytes at NAME/VERSION/model.onnx, there at once and as a new file that is an hour old.
  void Write(const std::string& model, const std::string& bytes) {
    std::filesystem::create_directories(File(model).parent_path());
    const std::filesystem::path written = directory / ".written";
    std::ofstream(written, std::ios::binary) << bytes;
    Age(written);
    std::filesystem::rename(written, File(model));
  }
  // The same, just now and, if it is there, in place. A little later than now: a test that is held
  // up meanwhile for almost two seconds still finds a file that does not rest.
  void WriteInPlace(const std::string& model, const std::string& bytes) {
    std::filesystem::create_directories(File(model).parent_path());
    std::ofstream(File(model), std::ios::binary) << bytes;
    std::filesystem::last_write_time(File(model), std::filesystem::file_time_type::clock::now() +
                                                      std::chrono::milliseconds(900));
  }
  static void Age(const std::filesystem::path& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  void WriteModel(const std::string& model, float alpha) {
    Write(model, ChainModel({alpha}).SerializeAsString());
  }

  // "name/version state reason [alpha]" of all that is not built in.
  std::vector<std::string> Index() const {
    std::vector<std::string> lines;
    for (const server::ModelState& state : catalog.Index(false)) {
      if (catalog.IsBuiltIn(state.name)) continue;
      std::string line = state.name + "/" + std::to_string(state.version) + " " +
                         std::string(state.state()) + " " + state.reason;
      if (state.model) line += "[" + std::to_string(*state.model->alpha).substr(0, 3) + "]";
      lines.push_back(line);
    }
    return lines;
  }

  std::filesystem::path root;       // removed at the end
  std::filesystem::path directory;  // the repository's, at first the same
  server::ModelCatalog catalog;
  std::unique_ptr<server::ModelRepository> repository;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SERVER_MODEL_DIRECTORY_H_
