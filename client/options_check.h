// What makes no sense in a client's options.
#ifndef TRELU_CLIENT_OPTIONS_CHECK_H_
#define TRELU_CLIENT_OPTIONS_CHECK_H_

#include <absl/status/status.h>

#include "trelu/client.h"

namespace trelu {

// INVALID_ARGUMENT that names the field, its value and its range. TLS files are looked at when they
// are read.
absl::Status CheckOptions(const ClientOptions& options);

}  // namespace trelu

#endif  // TRELU_CLIENT_OPTIONS_CHECK_H_
