// The models of --model-repository: loaded from its directory, and kept as the directory is.
#ifndef TRELU_SERVER_MODELS_MODEL_REPOSITORY_H_
#define TRELU_SERVER_MODELS_MODEL_REPOSITORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "server/models/model_catalog.h"
#include "server/models/model_files.h"
#include "server/models/model_statistics.h"
#include "server/periodic_thread.h"

namespace trelu::server {

// Reads every NAME/VERSION/model.onnx below a directory into a catalog, and what is new or changed
// there later. A file that is refused has its reason in the catalog and the log and harms no other;
// where an older file of that version was loaded, that one stays. A poll takes a file once it rests
// (FileStamp), so what is written in place is not taken half-way. Files that are gone are unloaded,
// but not those of a directory that another has replaced; when the directory itself cannot be
// listed, all stays as it is. Requests that hold a model keep it. Names of built-in models are
// refused.
//
// Any thread; the members may wait for the disk, and for each other. The catalog's readers never
// wait. The end waits for a poll that is under way, not for the next; what is loaded stays in the
// catalog.
class ModelRepository {
 public:
  // Loads all. With an `interval`, a thread of its own polls; with 0, only Poll does. `catalog`
  // outlives the result. INVALID_ARGUMENT when `directory` cannot be listed, and only then.
  static absl::StatusOr<std::unique_ptr<ModelRepository>> Start(std::string directory,
                                                                std::chrono::milliseconds interval,
                                                                ModelCatalog& catalog);

  // Makes the catalog as the directory is now.
  void Poll();

  // Reads all versions of `name` again, changed or not, and ends its being unloaded.
  // FAILED_PRECONDITION, with the reason, when a version is refused (the others are loaded all the
  // same) or the name is a built-in model's; NOT_FOUND when the directory has no such model;
  // UNAVAILABLE when it cannot be listed.
  absl::Status Load(std::string_view name);

  // Makes all versions of `name`, those that are still to come too, not ready until Load. A model
  // that is known goes without a look at the disk. FAILED_PRECONDITION, NOT_FOUND and UNAVAILABLE
  // as of Load.
  absl::Status Unload(std::string_view name);

 private:
  struct Version {
    // Of the file that was read last; nothing: read it again.
    std::optional<FileStamp> stamp;
    std::shared_ptr<const Model> model;
    std::string reason;
    std::shared_ptr<ModelStatistics> statistics = std::make_shared<ModelStatistics>();
  };
  using Versions = std::map<std::int64_t, Version>;
  enum class Read { kChanged, kAll };

  ModelRepository(std::string directory, ModelCatalog& catalog)
      : directory_(std::move(directory)), catalog_(catalog) {}

  // These need mutex_.
  absl::Status RefreshAll();
  // UNAVAILABLE when another directory comes in its place again and again.
  absl::StatusOr<ModelTree> OpenCurrent() const;
  absl::Status Refresh(const ModelTree& tree, const std::string& name, Read which);
  // These two: false when a file is no longer there.
  bool RefreshVersions(const std::string& name, const ModelFolder& folder, Read which,
                       Versions& versions);
  bool RefreshVersion(const std::string& name, const ModelFolder& folder, const ModelFile& file,
                      Read which, Version& version);
  static void MarkUnloaded(const std::string& name, std::int64_t number, Version& version);
  static void MarkRefused(const std::string& name, std::int64_t number, std::string reason,
                          Version& version);
  // Looks a caller's name up among the directory's entries, so that it never becomes a path, and
  // refreshes the model. Errors as of Load.
  absl::StatusOr<Versions*> RefreshNamed(std::string_view name, Read which);
  // Said once for each reason.
  void MarkUnusable(const std::string& name, std::string reason);
  void Publish();

  const std::string directory_;
  ModelCatalog& catalog_;

  std::mutex mutex_;
  std::map<std::string, Versions, std::less<>> models_;  // none without versions
  // Directories that cannot be listed, hold no version or have no model's name, with the reason.
  std::map<std::string, std::string, std::less<>> unusable_;
  // Longer than the model's files are there, so that they come back unloaded.
  std::set<std::string, std::less<>> unloaded_;

  std::optional<PeriodicThread> poller_;  // last, as it uses the others
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_REPOSITORY_H_
