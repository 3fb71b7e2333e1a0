#include "server/inference/repository_methods.h"

#include <absl/strings/str_cat.h>

#include "inference/open_inference.pb.h"
#include "server/log.h"

namespace trelu::server {
namespace {

using inference::RepositoryIndexRequest;
using inference::RepositoryIndexResponse;
using inference::RepositoryModelLoadRequest;
using inference::RepositoryModelLoadResponse;
using inference::RepositoryModelUnloadRequest;
using inference::RepositoryModelUnloadResponse;

absl::Status CheckRepositoryName(const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  return absl::UnimplementedError("repository_name: there is one repository; leave the name out");
}

absl::StatusOr<RepositoryIndexResponse> Index(const InferenceRooms& rooms,
                                              const RepositoryIndexRequest& request) {
  if (absl::Status name = CheckRepositoryName(request.repository_name()); !name.ok()) return name;
  RepositoryIndexResponse response;
  for (const ModelState& state : rooms.models.Index(request.ready())) {
    auto& model = *response.add_models();
    model.set_name(state.name);
    if (state.version != 0) model.set_version(absl::StrCat(state.version));
    model.set_state(std::string(state.state()));
    model.set_reason(state.reason);
  }
  return response;
}

// What Load and Unload look at first. `ignored` is the parameter that changes nothing here.
template <typename Request>
absl::Status Check(const InferenceRooms& rooms, const Request& request, std::string_view ignored) {
  if (rooms.repository == nullptr) {
    return absl::UnimplementedError("no model repository: --model-repository is not set");
  }
  if (absl::Status name = CheckRepositoryName(request.repository_name()); !name.ok()) return name;
  for (const auto& [name, value] : request.parameters()) {
    if (name == ignored) continue;
    return absl::UnimplementedError(absl::StrCat("parameters[", Quoted(name),
                                                 "]: models are taken from the repository as "
                                                 "they are"));
  }
  return absl::OkStatus();
}

absl::StatusOr<RepositoryModelLoadResponse> Load(const InferenceRooms& rooms,
                                                 const RepositoryModelLoadRequest& request) {
  if (absl::Status checked = Check(rooms, request, ""); !checked.ok()) return checked;
  absl::Status loaded = rooms.repository->Load(request.model_name());
  if (!loaded.ok()) return loaded;
  return RepositoryModelLoadResponse();
}

absl::StatusOr<RepositoryModelUnloadResponse> Unload(const InferenceRooms& rooms,
                                                     const RepositoryModelUnloadRequest& request) {
  // No model depends on another.
  if (absl::Status checked = Check(rooms, request, "unload_dependents"); !checked.ok()) {
    return checked;
  }
  absl::Status unloaded = rooms.repository->Unload(request.model_name());
  if (!unloaded.ok()) return unloaded;
  return RepositoryModelUnloadResponse();
}

}  // namespace

void AddRepositoryMethods(SmallMethods& methods, const InferenceRooms& rooms) {
  methods.Add<RepositoryIndexRequest, RepositoryIndexResponse>(
      "RepositoryIndex",
      [&rooms](const RepositoryIndexRequest& request) { return Index(rooms, request); });
  // These wait for the disk.
  methods.Add<RepositoryModelLoadRequest, RepositoryModelLoadResponse>(
      "RepositoryModelLoad",
      [&rooms](const RepositoryModelLoadRequest& request) { return Load(rooms, request); },
      SmallMethods::Where::kChores);
  methods.Add<RepositoryModelUnloadRequest, RepositoryModelUnloadResponse>(
      "RepositoryModelUnload",
      [&rooms](const RepositoryModelUnloadRequest& request) { return Unload(rooms, request); },
      SmallMethods::Where::kChores);
}

}  // namespace trelu::server
