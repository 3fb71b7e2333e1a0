// The small calls that ask a server about itself. Each blocks and is made once: whoever asks how a
// server is wants to hear that it does not answer.
#ifndef TRELU_CLIENT_QUESTIONS_H_
#define TRELU_CLIENT_QUESTIONS_H_

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "client/call.h"
#include "trelu/client.h"

namespace trelu {

// grpc.health.v1.Health/Check. A service that the server does not know is an answer, not an error.
absl::StatusOr<ServingStatus> AskHealth(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& service, const Deadline& deadline);

// trelu.v1.Server/GetInfo. Element types that this library does not know are left out.
absl::StatusOr<ServerInfo> AskInfo(const std::shared_ptr<grpc::Channel>& channel,
                                   const Deadline& deadline);

}  // namespace trelu

#endif  // TRELU_CLIENT_QUESTIONS_H_
