// A client that computes in the process, so that the command is tested without a server.
#ifndef TRELU_TESTS_COMMAND_LOCAL_CLIENT_H_
#define TRELU_TESTS_COMMAND_LOCAL_CLIENT_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "core/thresholded_relu.h"
#include "trelu/client.h"

namespace trelu::command {

class LocalClient : public Client {
 public:
  // Sizes of the pieces that ApplyStream asks for and gives, which cut elements.
  std::size_t source_step = 7;
  std::size_t sink_step = 5;
  // What a call ends with, instead of computing.
  absl::Status failure;
  // Changes each result.
  std::function<void(std::span<std::byte>)> distort;

  int calls = 0;
  int streams = 0;
  ApplyOptions last_options;

  absl::Status Apply(const TensorSpec& spec, std::span<const std::byte> x, std::span<std::byte> y,
                     const ApplyOptions& options) override {
    ++calls;
    last_options = options;
    if (!failure.ok()) return failure;
    ThresholdedRelu(spec.dtype(), options.alpha.value_or(1.0F)).Apply(x, y.data());
    if (distort) distort(y);
    return absl::OkStatus();
  }

  void ApplyAsync(const TensorSpec& spec, std::span<const std::byte> x, std::span<std::byte> y,
                  const ApplyOptions& options, std::function<void(absl::Status)> done) override {
    done(Apply(spec, x, y, options));
  }

  absl::Status ApplyStream(const TensorSpec& spec, const Source& source, const Sink& sink,
                           const ApplyOptions& options) override {
    ++streams;
    std::vector<std::byte> tensor(spec.bytes());
    for (std::span<std::byte> rest = tensor; !rest.empty();) {
      const std::span<std::byte> part = rest.first(std::min(source_step, rest.size()));
      if (absl::Status status = source(part); !status.ok()) return status;
      rest = rest.subspan(part.size());
    }
    if (absl::Status status = Apply(spec, tensor, tensor, options); !status.ok()) return status;
    for (std::span<const std::byte> rest = tensor; !rest.empty();) {
      const std::span<const std::byte> part = rest.first(std::min(sink_step, rest.size()));
      if (absl::Status status = sink(part); !status.ok()) return status;
      rest = rest.subspan(part.size());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<SharedBuffer>> NewSharedBuffer(std::size_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }

  absl::StatusOr<ServingStatus> CheckHealth(const std::string& /*service*/,
                                            std::chrono::milliseconds /*timeout*/) override {
    return ServingStatus::kServing;
  }

  absl::StatusOr<ServerInfo> GetInfo(std::chrono::milliseconds /*timeout*/) override {
    return ServerInfo{};
  }
};

}  // namespace trelu::command

#endif  // TRELU_TESTS_COMMAND_LOCAL_CLIENT_H_
