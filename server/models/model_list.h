// The models as a page shows them: JSON for /models of the admin address.
#ifndef TRELU_SERVER_MODELS_MODEL_LIST_H_
#define TRELU_SERVER_MODELS_MODEL_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "server/models/model_catalog.h"

namespace trelu::server {

// {"total": 3, "ready": 2, "models": [{"name", "version", "state", "reason"}, ...]}, all four
// strings: a version may be larger than a JSON number is exact, and is empty for a model whose
// versions cannot be listed. At most `at_most` models, those that have a reason first, otherwise in
// the order of `index`; "total" and "ready" count all of them.
std::string ModelListJson(std::vector<ModelState> index, std::size_t at_most);

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_LIST_H_
