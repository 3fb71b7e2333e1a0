#include "server/models/model_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trelu::server {

std::string ModelListJson(std::vector<ModelState> index, std::size_t at_most) {
  nlohmann::json list;
  list["total"] = index.size();
  list["ready"] = std::count_if(index.begin(), index.end(),
                                [](const ModelState& state) { return state.model != nullptr; });
  std::stable_partition(index.begin(), index.end(),
                        [](const ModelState& state) { return !state.reason.empty(); });
  index.resize(std::min(index.size(), at_most));
  nlohmann::json& models = list["models"] = nlohmann::json::array();
  for (const ModelState& state : index) {
    models.push_back({{"name", state.name},
                      {"version", state.version == 0 ? "" : std::to_string(state.version)},
                      {"state", std::string(state.state())},
                      {"reason", state.reason}});
  }
  // Names are printable ASCII; should one ever not be, the page is worth more than its bytes.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace trelu::server
