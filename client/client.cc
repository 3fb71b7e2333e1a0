// The client: which way a call goes, and what it is made of.
#include "trelu/client.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/client_context.h>

#include <cstring>
#include <optional>
#include <utility>

#include "client/async_calls.h"
#include "client/channel_pool.h"
#include "client/chunk_pool.h"
#include "client/create.h"
#include "client/options_check.h"
#include "client/questions.h"
#include "client/refused_call.h"
#include "client/shared_memory/local_server.h"
#include "client/shared_memory/this_host.h"
#include "client/stream_call.h"
#include "client/unary_call.h"
#include "proto/apply_codec.h"

namespace trelu {
namespace {

// What the pool of a client that has nothing to do keeps.
constexpr std::size_t kIdleBytes = std::size_t{32} << 20;

absl::Status CheckSize(const char* name, std::size_t bytes, const TensorSpec& spec) {
  if (bytes == spec.bytes()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has ", bytes, " bytes, the tensor has ", spec.bytes()));
}

bool Overlap(std::span<const std::byte> x, std::span<const std::byte> y) {
  return std::less<>()(x.data(), y.data() + y.size()) &&
         std::less<>()(y.data(), x.data() + x.size());
}

// A tensor in memory, streamed.
StreamEnds EndsInMemory(std::span<const std::byte> x, std::span<std::byte> y) {
  return {.source =
              [x](std::uint64_t offset, std::span<std::byte> part) {
                std::memcpy(part.data(), x.data() + offset, part.size());
                return absl::OkStatus();
              },
          .sink =
              [y](std::uint64_t offset, std::span<const std::byte> part) {
                std::memcpy(y.data() + offset, part.data(), part.size());
                return absl::OkStatus();
              },
          // In place, the first result bytes destroy the tensor.
          .may_restart = [in_place = Overlap(x, y)](
                             std::uint64_t /*asked*/,
                             std::uint64_t given) { return !in_place || given == 0; }};
}

class RemoteClient final : public Client {
 public:
  RemoteClient(const ClientOptions& options,
               const std::shared_ptr<grpc::ChannelCredentials>& credentials, RetryPacing pacing)
      : options_(options),
        pacing_(std::move(pacing)),
        channels_(options, credentials),
        chunks_(options.chunk_bytes, kIdleBytes) {
    if (options.shared_memory == SharedMemory::kAuto && IsThisHost(options.target)) {
      local_.emplace([this] { return channels_.NextChannel(); }, [this] { return NewSchedule(); },
                     async_calls_);
    }
  }
  ~RemoteClient() override {
    if (local_.has_value()) local_->Close();
  }
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  absl::Status Apply(const TensorSpec& spec, std::span<const std::byte> x, std::span<std::byte> y,
                     const ApplyOptions& options) override {
    return RunHere(*MakeCall(spec, x, y, options));
  }

  void ApplyAsync(const TensorSpec& spec, std::span<const std::byte> x, std::span<std::byte> y,
                  const ApplyOptions& options, std::function<void(absl::Status)> done) override {
    async_calls_.Start(MakeCall(spec, x, y, options), std::move(done));
  }

  absl::Status ApplyStream(const TensorSpec& spec, const Source& source, const Sink& sink,
                           const ApplyOptions& options) override {
    StreamEnds ends = {
        .source = [&source](std::uint64_t /*offset*/,
                            std::span<std::byte> part) { return source(part); },
        .sink = [&sink](std::uint64_t /*offset*/,
                        std::span<const std::byte> part) { return sink(part); },
        .may_restart = [](std::uint64_t asked, std::uint64_t /*given*/) { return asked == 0; }};
    return RunHere(*MakeStream(spec, std::move(ends), options.alpha,
                               Deadline::After(options.timeout), NewSchedule()));
  }

  absl::StatusOr<std::unique_ptr<SharedBuffer>> NewSharedBuffer(std::size_t bytes) override {
    if (local_.has_value() && bytes > 0) {
      if (auto buffer = local_->NewBuffer(bytes); buffer != nullptr) return buffer;
    }
    return NewPlainBuffer(bytes);
  }

  absl::StatusOr<ServingStatus> CheckHealth(const std::string& service,
                                            std::chrono::milliseconds timeout) override {
    return AskHealth(channels_.NextChannel(), service, Deadline::After(timeout));
  }

  absl::StatusOr<ServerInfo> GetInfo(std::chrono::milliseconds timeout) override {
    return AskInfo(channels_.NextChannel(), Deadline::After(timeout));
  }

 private:
  RetrySchedule NewSchedule() const { return {options_.retry, pacing_}; }

  std::function<grpc::GenericStub&()> NextStub() {
    return [this]() -> grpc::GenericStub& { return channels_.NextStub(); };
  }

  std::unique_ptr<Call> MakeStream(const TensorSpec& spec, StreamEnds ends,
                                   std::optional<float> alpha, Deadline deadline,
                                   RetrySchedule retry) {
    return std::make_unique<StreamCall>(deadline, retry, NextStub(), chunks_, options_.chunk_bytes,
                                        spec, alpha, std::move(ends));
  }

  std::unique_ptr<Call> MakeCall(const TensorSpec& spec, std::span<const std::byte> x,
                                 std::span<std::byte> y, const ApplyOptions& options) {
    absl::Status valid = CheckSize("x", x.size(), spec);
    if (valid.ok()) valid = CheckSize("y", y.size(), spec);
    if (valid.ok() && x.data() != y.data() && Overlap(x, y)) {
      valid = absl::InvalidArgumentError("y overlaps x, but is not x");
    }
    if (!valid.ok()) return std::make_unique<RefusedCall>(std::move(valid), NewSchedule());
    const Deadline deadline = Deadline::After(options.timeout);
    if (local_.has_value() && spec.bytes() > options_.shared_memory_above_bytes) {
      return local_->MakeCall(
          deadline, spec, x, y, options.alpha,
          [this, spec, x, y, alpha = options.alpha, deadline](const RetrySchedule& retry) {
            return MakeOrdinary(spec, x, y, alpha, deadline, retry);
          });
    }
    return MakeOrdinary(spec, x, y, options.alpha, deadline, NewSchedule());
  }

  // Over the connection.
  std::unique_ptr<Call> MakeOrdinary(const TensorSpec& spec, std::span<const std::byte> x,
                                     std::span<std::byte> y, std::optional<float> alpha,
                                     Deadline deadline, RetrySchedule retry) {
    if (spec.bytes() > options_.stream_above_bytes) {
      return MakeStream(spec, EndsInMemory(x, y), alpha, deadline, retry);
    }
    absl::StatusOr<Payload> payload = chunks_.Fill(x.size(), [&x](std::span<std::byte> part) {
      std::memcpy(part.data(), x.data(), part.size());
      x = x.subspan(part.size());
      return absl::OkStatus();
    });
    return std::make_unique<UnaryCall>(deadline, retry, NextStub(),
                                       EncodeApplyRequest(&spec, alpha, *std::move(payload)), spec,
                                       y);
  }

  const ClientOptions options_;
  const RetryPacing pacing_;
  ChannelPool channels_;
  ChunkPool chunks_;
  std::optional<LocalServer> local_;  // when memory may be shared at all
  AsyncCalls async_calls_;            // last, as its calls use the others until they end
};

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> CreateClient(const ClientOptions& options,
                                                     RetryPacing pacing) {
  absl::Status valid = CheckOptions(options);
  if (!valid.ok()) return valid;
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      MakeCredentials(options.tls);
  if (!credentials.ok()) return credentials.status();
  return std::make_unique<RemoteClient>(options, *credentials, std::move(pacing));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  return CreateClient(options, RetryPacing::Real());
}

}  // namespace trelu
