#include "server/models/model_repository.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "server/log.h"
#include "server/models/onnx_model.h"

namespace trelu::server {
namespace {

constexpr const char* kNoVersion = "no VERSION/model.onnx in it, with VERSION 1, 2, ...";
constexpr const char* kNoName = "the name is not of printable ASCII";
constexpr const char* kBuiltIn = "the name is a built-in model's";

std::string Described(std::string_view name) { return absl::StrCat("model ", Quoted(name)); }

// How often a directory is looked at in a row when another comes in its place meanwhile.
constexpr int kMaxLooks = 5;

absl::Status ChangesAllTheTime() {
  return absl::UnavailableError("the directory is another at each look");
}

void LogGone(const std::string& name, std::int64_t version) {
  Log(LogLevel::kInfo, "model gone", {{"model", name}, {"version", version}});
}

void LogNotRead(const std::string& directory, const absl::Status& status) {
  const std::string reason(status.message());
  LogSometimes("model_repository", LogLevel::kWarning, "model directory not read",
               {{"directory", directory}, {"reason", reason}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelRepository>> ModelRepository::Start(
    std::string directory, std::chrono::milliseconds interval, ModelCatalog& catalog) {
  std::unique_ptr<ModelRepository> repository(new ModelRepository(std::move(directory), catalog));
  {
    const std::lock_guard lock(repository->mutex_);
    if (absl::Status listed = repository->RefreshAll(); !listed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--model-repository ", repository->directory_, ": ", listed.message()));
    }
  }
  const auto states = catalog.Index(/*only_ready=*/false);
  const auto ready = catalog.Index(/*only_ready=*/true);
  Log(LogLevel::kInfo, "model repository read",
      {{"directory", repository->directory_},
       {"ready", static_cast<std::int64_t>(ready.size() - BuiltInModels().size())},
       {"refused", static_cast<std::int64_t>(states.size() - ready.size())}});
  if (interval.count() > 0) {
    repository->poller_.emplace(interval, [raw = repository.get()] { raw->Poll(); });
  }
  return repository;
}

void ModelRepository::Poll() {
  const std::lock_guard lock(mutex_);
  if (const absl::Status listed = RefreshAll(); !listed.ok()) LogNotRead(directory_, listed);
}

absl::Status ModelRepository::Load(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto mark = unloaded_.find(name);
  const bool was_unloaded = mark != unloaded_.end();
  if (was_unloaded) unloaded_.erase(mark);
  const absl::StatusOr<Versions*> versions = RefreshNamed(name, Read::kAll);
  if (!versions.ok()) {
    if (was_unloaded) unloaded_.emplace(name);
    return versions.status();
  }
  for (const auto& [number, version] : **versions) {
    if (version.reason.empty()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(Described(name), " version ", number, ": ", version.reason));
  }
  return absl::OkStatus();
}

absl::Status ModelRepository::Unload(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const bool marked = unloaded_.emplace(name).second;
  const auto known = models_.find(name);
  if (known == models_.end() || catalog_.IsBuiltIn(name)) {
    // Possibly newer than the last poll; being marked, it is not loaded.
    absl::Status found = RefreshNamed(name, Read::kChanged).status();
    if (!found.ok() && marked) unloaded_.erase(unloaded_.find(name));
    return found;
  }
  for (auto& [number, version] : known->second) MarkUnloaded(known->first, number, version);
  Publish();
  return absl::OkStatus();
}

absl::StatusOr<ModelRepository::Versions*> ModelRepository::RefreshNamed(std::string_view name,
                                                                         Read which) {
  if (catalog_.IsBuiltIn(name)) {
    return absl::FailedPreconditionError(absl::StrCat(Described(name), ": is built in"));
  }
  const absl::StatusOr<ModelTree> tree = OpenCurrent();
  if (!tree.ok()) return tree.status();
  if (const std::string listed(name); tree->Has(listed) && IsModelName(listed)) {
    if (absl::Status refreshed = Refresh(*tree, listed, which); !refreshed.ok()) return refreshed;
    Publish();
    if (const auto model = models_.find(name); model != models_.end()) return &model->second;
    return absl::NotFoundError(absl::StrCat(Described(name), ": ", kNoVersion));
  }
  return absl::NotFoundError(absl::StrCat(Described(name), ": not in the model repository"));
}

absl::StatusOr<ModelTree> ModelRepository::OpenCurrent() const {
  for (int looks = 0; looks < kMaxLooks; ++looks) {
    absl::StatusOr<ModelTree> tree = ModelTree::Open(directory_);
    if (!tree.ok() || tree->IsCurrent()) return tree;
  }
  return ChangesAllTheTime();
}

absl::Status ModelRepository::RefreshAll() {
  const absl::StatusOr<ModelTree> tree = OpenCurrent();
  if (!tree.ok()) return tree.status();
  std::erase_if(models_, [&tree](const auto& model) {
    if (tree->Has(model.first)) return false;
    for (const auto& [number, version] : model.second) LogGone(model.first, number);
    return true;
  });
  std::erase_if(unusable_, [&tree](const auto& entry) { return !tree->Has(entry.first); });
  for (const std::string& name : tree->names()) {
    if (!IsModelName(name)) {
      MarkUnusable(name, kNoName);
    } else if (const absl::Status refreshed = Refresh(*tree, name, Read::kChanged);
               !refreshed.ok()) {
      MarkUnusable(name, std::string(refreshed.message()));
    }
  }
  Publish();
  return absl::OkStatus();
}

absl::Status ModelRepository::Refresh(const ModelTree& tree, const std::string& name, Read which) {
  Versions& versions = models_[name];
  const auto end = [&](const absl::Status& status) {
    if (versions.empty()) models_.erase(name);
    return status;
  };
  absl::StatusOr<ModelTree> newer = absl::UnknownError("");
  const ModelTree* current = &tree;
  bool lacked_one = false;
  for (int looks = 1;; ++looks) {
    const absl::StatusOr<ModelFolder> folder = current->Folder(name);
    if (!folder.ok()) return end(folder.status());
    const auto is_gone = [&folder](const auto& version) { return !folder->Has(version.first); };
    const bool lacks_one = std::any_of(versions.begin(), versions.end(), is_gone);
    // Links on the way to a file may have been exchanged, too, so one look is not enough.
    const bool believed = !lacks_one || (lacked_one && current->IsCurrent(*folder));
    if (believed && RefreshVersions(name, *folder, which, versions)) {
      std::erase_if(versions, [&](const auto& version) {
        if (!is_gone(version)) return false;
        LogGone(name, version.first);
        return true;
      });
      break;
    }
    // What there was serves on.
    if (looks == kMaxLooks) return end(ChangesAllTheTime());
    lacked_one = lacks_one;
    newer = OpenCurrent();
    if (!newer.ok()) return end(newer.status());
    current = &*newer;
  }
  if (versions.empty()) {
    MarkUnusable(name, kNoVersion);
  } else {
    unusable_.erase(name);
  }
  return end(absl::OkStatus());
}

bool ModelRepository::RefreshVersions(const std::string& name, const ModelFolder& folder,
                                      Read which, Versions& versions) {
  bool all_there = true;
  for (const ModelFile& file : folder.files()) {
    if (!RefreshVersion(name, folder, file, which, versions[file.version])) all_there = false;
  }
  return all_there;
}

void ModelRepository::MarkUnusable(const std::string& name, std::string reason) {
  std::string& known = unusable_[name];
  if (known == reason) return;
  Log(LogLevel::kWarning, "model directory not used", {{"model", name}, {"reason", reason}});
  known = std::move(reason);
}

bool ModelRepository::RefreshVersion(const std::string& name, const ModelFolder& folder,
                                     const ModelFile& file, Read which, Version& version) {
  if (unloaded_.contains(name)) {
    MarkUnloaded(name, file.version, version);
    return true;
  }
  if (catalog_.IsBuiltIn(name)) {
    MarkRefused(name, file.version, kBuiltIn, version);
    return true;
  }
  if (which == Read::kChanged && file.stamp) {
    if (version.stamp == file.stamp) return true;
    // While there is another, it can wait.
    if (version.model && !file.stamp->rests()) return true;
  }

  const absl::StatusOr<FileContent> content = folder.Read(file, kMaxOnnxModelBytes);
  // What could not be read, or may have changed unseen, is read again at the next poll.
  version.stamp.reset();
  if (content.ok() && content->stamp.rests()) version.stamp = content->stamp;
  absl::StatusOr<Model> model = content.ok() ? ReadOnnxModel(content->bytes) : content.status();
  if (!model.ok()) {
    MarkRefused(name, file.version, std::string(model.status().message()), version);
    return !absl::IsNotFound(model.status());
  }
  model->name = name;
  model->version = file.version;
  model->statistics = version.statistics;
  const bool was_fine = std::exchange(version.reason, {}).empty();
  if (was_fine && which == Read::kChanged && version.model && *version.model == *model) return true;
  version.model = std::make_shared<const Model>(*std::move(model));
  Log(LogLevel::kInfo, "model loaded", {{"model", name}, {"version", file.version}});
  return true;
}

void ModelRepository::MarkUnloaded(const std::string& name, std::int64_t number, Version& version) {
  if (version.model) {
    Log(LogLevel::kInfo, "model unloaded", {{"model", name}, {"version", number}});
  }
  version.model.reset();
  version.stamp.reset();
  version.reason = "unloaded";
}

// The model that was loaded before, if any, stays.
void ModelRepository::MarkRefused(const std::string& name, std::int64_t number, std::string reason,
                                  Version& version) {
  if (version.reason != reason) {
    Log(LogLevel::kWarning, "model refused",
        {{"model", name}, {"version", number}, {"reason", reason}});
  }
  version.reason = std::move(reason);
}

void ModelRepository::Publish() {
  std::vector<ModelState> states;
  for (const auto& [name, versions] : models_) {
    for (const auto& [number, version] : versions) {
      states.push_back({name, number, version.model, version.reason});
    }
  }
  for (const auto& [name, reason] : unusable_) {
    // Not for what may never have been meant as a model, or cannot be shown.
    if (reason == kNoVersion || reason == kNoName || models_.contains(name)) continue;
    states.push_back({name, 0, nullptr, reason});
  }
  catalog_.Publish(std::move(states));
}

}  // namespace trelu::server
