// The models that requests can ask for by name and version.
#ifndef TRELU_SERVER_MODELS_MODEL_CATALOG_H_
#define TRELU_SERVER_MODELS_MODEL_CATALOG_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/models/model.h"

namespace trelu::server {

// One version of a model, as everybody may see it.
struct ModelState {
  std::string name;
  std::int64_t version = 1;  // 0: of a model whose versions cannot be listed
  // Null: not ready.
  std::shared_ptr<const Model> model;
  // Why it is not ready, or why the newest file was not taken. Printable.
  std::string reason;

  // The protocol's word (Triton's model_repository extension, RepositoryIndex).
  std::string_view state() const { return model ? "READY" : "UNAVAILABLE"; }
};

// Begins with the built-in models, which never change. Any thread; readers wait for nobody, except
// for the moment in which the snapshot is exchanged or taken.
class ModelCatalog {
 public:
  ModelCatalog();
  ~ModelCatalog();

  bool IsBuiltIn(std::string_view name) const;

  // Replaces all that is not built in. Each name and version at most once; at the name and version
  // of a built-in model only the reason is taken.
  void Publish(std::vector<ModelState> states);

  // `version` is a decimal number, or empty for the highest that is ready. INVALID_ARGUMENT: no
  // such number; NOT_FOUND: no such model or version; UNAVAILABLE: not ready, with the reason.
  absl::StatusOr<std::shared_ptr<const Model>> Find(std::string_view name,
                                                    std::string_view version) const;

  // The versions of `name` that are ready, ascending; those of all models, by name, when `name` is
  // empty.
  std::vector<std::shared_ptr<const Model>> Ready(std::string_view name) const;

  // By name and version, ascending.
  std::vector<ModelState> Index(bool only_ready) const;

 private:
  struct Snapshot;
  std::shared_ptr<const Snapshot> Now() const;

  const std::vector<ModelState> built_in_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;  // under mutex_; what it points to never changes
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_CATALOG_H_
