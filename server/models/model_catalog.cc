#include "server/models/model_catalog.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "server/log.h"

namespace trelu::server {
namespace {

constexpr std::size_t kShownReasonBytes = 256;

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};

std::string Described(std::string_view name) { return absl::StrCat("model ", Quoted(name)); }

// As Described goes on; nothing where the versions cannot be listed.
std::string VersionOf(const ModelState& state) {
  return state.version == 0 ? "" : absl::StrCat(" version ", state.version);
}

absl::StatusOr<std::int64_t> ParseVersion(std::string_view text) {
  std::int64_t version = 0;
  // The conversion alone would also take signs and blanks.
  const bool digits = std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(std::string(text), &version)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model_version = ", Quoted(text), ": expected a number >= 0, or nothing for the highest"));
  }
  return version;
}

std::vector<ModelState> BuiltInStates() {
  std::vector<ModelState> states;
  for (Model& model : BuiltInModels()) {
    auto shared = std::make_shared<const Model>(std::move(model));
    states.push_back({shared->name, shared->version, shared, {}});
  }
  return states;
}

}  // namespace

struct ModelCatalog::Snapshot {
  explicit Snapshot(std::vector<ModelState> states) {
    for (ModelState& state : states) {
      std::vector<ModelState>& versions = by_name[state.name];
      versions.push_back(std::move(state));
    }
    for (auto& [name, versions] : by_name) {
      std::sort(versions.begin(), versions.end(),
                [](const auto& a, const auto& b) { return a.version < b.version; });
    }
  }

  // Versions ascending, none empty.
  std::unordered_map<std::string, std::vector<ModelState>, NameHash, std::equal_to<>> by_name;
};

ModelCatalog::ModelCatalog()
    : built_in_(BuiltInStates()), snapshot_(std::make_shared<const Snapshot>(built_in_)) {}

ModelCatalog::~ModelCatalog() = default;

bool ModelCatalog::IsBuiltIn(std::string_view name) const {
  return std::any_of(built_in_.begin(), built_in_.end(),
                     [name](const ModelState& state) { return state.name == name; });
}

void ModelCatalog::Publish(std::vector<ModelState> states) {
  std::vector<ModelState> built_in = built_in_;
  std::erase_if(states, [&built_in](const ModelState& state) {
    const auto same = std::find_if(built_in.begin(), built_in.end(), [&](const ModelState& known) {
      return known.name == state.name && known.version == state.version;
    });
    if (same == built_in.end()) return false;
    same->reason = state.reason;
    return true;
  });
  states.insert(states.end(), built_in.begin(), built_in.end());
  auto snapshot = std::make_shared<const Snapshot>(std::move(states));
  const std::lock_guard lock(mutex_);
  // What leaves here is destroyed after the lock is released, by whoever lets go last.
  snapshot_.swap(snapshot);
}

std::shared_ptr<const ModelCatalog::Snapshot> ModelCatalog::Now() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

absl::StatusOr<std::shared_ptr<const Model>> ModelCatalog::Find(std::string_view name,
                                                                std::string_view version) const {
  const auto snapshot = Now();
  const auto found = snapshot->by_name.find(name);
  if (found == snapshot->by_name.end()) {
    return absl::NotFoundError(absl::StrCat(Described(name), ": unknown"));
  }
  const std::vector<ModelState>& versions = found->second;
  const ModelState* state = &versions.back();
  if (version.empty()) {
    const auto highest = std::find_if(versions.rbegin(), versions.rend(),
                                      [](const ModelState& each) { return each.model != nullptr; });
    if (highest != versions.rend()) state = &*highest;
  } else {
    const absl::StatusOr<std::int64_t> number = ParseVersion(version);
    if (!number.ok()) return number.status();
    const auto same =
        std::find_if(versions.begin(), versions.end(),
                     [&number](const ModelState& each) { return each.version == *number; });
    if (same == versions.end()) {
      return absl::NotFoundError(absl::StrCat(Described(name), " version ", *number, ": unknown"));
    }
    state = &*same;
  }
  if (state->model) return state->model;
  return absl::UnavailableError(absl::StrCat(Described(name), VersionOf(*state), ": not ready: ",
                                             Printable(state->reason, kShownReasonBytes)));
}

std::vector<std::shared_ptr<const Model>> ModelCatalog::Ready(std::string_view name) const {
  std::vector<std::shared_ptr<const Model>> ready;
  if (name.empty()) {
    for (const ModelState& state : Index(true)) ready.push_back(state.model);
    return ready;
  }
  const auto snapshot = Now();
  const auto found = snapshot->by_name.find(name);
  if (found == snapshot->by_name.end()) return ready;
  for (const ModelState& state : found->second) {
    if (state.model) ready.push_back(state.model);
  }
  return ready;
}

std::vector<ModelState> ModelCatalog::Index(bool only_ready) const {
  std::vector<ModelState> index;
  const auto snapshot = Now();
  for (const auto& [name, versions] : snapshot->by_name) {
    for (const ModelState& state : versions) {
      if (state.model || !only_ready) index.push_back(state);
    }
  }
  std::sort(index.begin(), index.end(), [](const ModelState& a, const ModelState& b) {
    return std::tie(a.name, a.version) < std::tie(b.name, b.version);
  });
  return index;
}

}  // namespace trelu::server
