// A client of the native API that can also send what no proper client would: any bytes, in any
// order.
#ifndef TRELU_TESTS_SUPPORT_NATIVE_CLIENT_H_
#define TRELU_TESTS_SUPPORT_NATIVE_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/status.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::testing {

inline constexpr char kApply[] = "/trelu.v1.ThresholdedRelu/Apply";
inline constexpr char kApplyStream[] = "/trelu.v1.ThresholdedRelu/ApplyStream";

// Changes a call's context before it starts: deadline, metadata, compression.
using Prepare = std::function<void(grpc::ClientContext&)>;

struct Answer {
  grpc::Status status;
  std::string message;  // the response's bytes; empty unless OK
  std::multimap<std::string, std::string> trailers;
};

// One stream of raw messages. One thread, save TryCancel through context(). Cancels what is not
// finished when it goes.
class RawStream {
 public:
  // Whether responses are taken in while it writes, as a proper client must, or only by Read.
  enum class Reading { kAlways, kOnDemand };

  // Starts the call; each call waits for a minute at most unless `prepare` says otherwise.
  RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
            const Prepare& prepare = nullptr, Reading reading = Reading::kAlways);
  ~RawStream();
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  grpc::ClientContext& context() { return context_; }

  // False when the stream is over. Waits until the transport has taken the message.
  bool Write(const std::string& message);
  // Says that nothing more will be written.
  bool WritesDone();
  // The next response; nothing when there is none any more. Waits.
  std::optional<std::string> Read();
  // The next response if it is here already. Does not wait.
  std::optional<std::string> TakeReceived();
  // All that is left, until the stream ends.
  std::vector<std::string> ReadAll();
  // Reads what is left and gives the call's status. Once; nothing is written afterwards.
  grpc::Status Finish();

 private:
  bool Await(int tag);
  void StartRead();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  const Reading reading_;
  grpc::ByteBuffer incoming_;
  std::deque<std::string> received_;
  bool reading_now_ = false;
  bool input_ended_ = false;
  bool started_ = false;
  bool finished_ = false;
};

// One connection, without message limits. Any thread.
class NativeClient {
 public:
  explicit NativeClient(
      const std::string& target,
      const std::shared_ptr<grpc::ChannelCredentials>& credentials = nullptr /* insecure */);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  v1::ThresholdedRelu::Stub& stub() { return *stub_; }

  // Any method with any bytes.
  Answer Call(const std::string& method, const std::string& message,
              const Prepare& prepare = nullptr);
  // Apply with the bytes of `request`, which are protobuf's.
  Answer Apply(const v1::ApplyRequest& request, const Prepare& prepare = nullptr) {
    return Call(kApply, request.SerializeAsString(), prepare);
  }
  std::unique_ptr<RawStream> OpenStream(const Prepare& prepare = nullptr,
                                        RawStream::Reading reading = RawStream::Reading::kAlways) {
    return std::make_unique<RawStream>(channel_, kApplyStream, prepare, reading);
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub generic_;
  std::unique_ptr<v1::ThresholdedRelu::Stub> stub_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_NATIVE_CLIENT_H_
