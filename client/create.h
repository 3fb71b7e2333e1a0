// A client whose retries wait and choose as told, for tests of what it does when calls fail.
#ifndef TRELU_CLIENT_CREATE_H_
#define TRELU_CLIENT_CREATE_H_

#include <absl/status/statusor.h>

#include <memory>

#include "client/retry.h"
#include "trelu/client.h"

namespace trelu {

// Client::Create, but for the pacing.
absl::StatusOr<std::unique_ptr<Client>> CreateClient(const ClientOptions& options,
                                                     RetryPacing pacing);

}  // namespace trelu

#endif  // TRELU_CLIENT_CREATE_H_
