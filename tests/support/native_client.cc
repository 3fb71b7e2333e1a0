#include "tests/support/native_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <vector>

namespace trelu::testing {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return {};
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

void PrepareContext(grpc::ClientContext& context, const Prepare& prepare) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
  if (prepare) prepare(context);
}

std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Else channels to the same target share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      target, credentials ? credentials : grpc::InsecureChannelCredentials(), arguments);
}

void* ToTag(int number) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(number)); }

enum Tag { kStart = 1, kWrite, kWritesDone, kRead, kFinish };

}  // namespace

RawStream::RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const Prepare& prepare, Reading reading)
    : reading_(reading) {
  PrepareContext(context_, prepare);
  call_ = grpc::GenericStub(channel).PrepareCall(&context_, method, &queue_);
  call_->StartCall(ToTag(kStart));
  started_ = Await(kStart);
  if (started_ && reading_ == Reading::kAlways) StartRead();
}

RawStream::~RawStream() {
  if (!finished_) {
    context_.TryCancel();
    Finish();
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void RawStream::StartRead() {
  if (reading_now_ || input_ended_) return;
  reading_now_ = true;
  call_->Read(&incoming_, ToTag(kRead));
}

// Takes in what arrives until the operation `wanted` is over; gives its `ok`.
bool RawStream::Await(int wanted) {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    if (tag == ToTag(kRead)) {
      reading_now_ = false;
      input_ended_ = !ok;
      if (ok) received_.push_back(ToString(incoming_));
      if (wanted != kRead && reading_ == Reading::kAlways) StartRead();
    }
    if (tag == ToTag(wanted)) return ok;
  }
  return false;
}

bool RawStream::Write(const std::string& message) {
  if (!started_) return false;
  call_->Write(ToBuffer(message), ToTag(kWrite));
  return Await(kWrite);
}

bool RawStream::WritesDone() {
  if (!started_) return false;
  call_->WritesDone(ToTag(kWritesDone));
  return Await(kWritesDone);
}

std::optional<std::string> RawStream::Read() {
  if (received_.empty() && started_) {
    StartRead();
    if (reading_now_) Await(kRead);
  }
  return TakeReceived();
}

std::optional<std::string> RawStream::TakeReceived() {
  if (received_.empty()) return std::nullopt;
  std::string message = std::move(received_.front());
  received_.pop_front();
  return message;
}

std::vector<std::string> RawStream::ReadAll() {
  std::vector<std::string> all;
  while (auto message = Read()) all.push_back(*std::move(message));
  return all;
}

grpc::Status RawStream::Finish() {
  while (started_ && !input_ended_) {
    StartRead();
    Await(kRead);
  }
  finished_ = true;
  grpc::Status status;
  call_->Finish(&status, ToTag(kFinish));
  Await(kFinish);
  return status;
}

NativeClient::NativeClient(const std::string& target,
                           const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : channel_(OpenChannel(target, credentials)),
      generic_(channel_),
      stub_(v1::ThresholdedRelu::NewStub(channel_)) {}

Answer NativeClient::Call(const std::string& method, const std::string& message,
                          const Prepare& prepare) {
  grpc::ClientContext context;
  PrepareContext(context, prepare);
  grpc::CompletionQueue queue;
  Answer answer;
  grpc::ByteBuffer response;
  const auto call = generic_.PrepareUnaryCall(&context, method, ToBuffer(message), &queue);
  call->StartCall();
  call->Finish(&response, &answer.status, ToTag(kFinish));
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (answer.status.ok()) answer.message = ToString(response);
  for (const auto& [key, value] : context.GetServerTrailingMetadata()) {
    answer.trailers.emplace(std::string(key.data(), key.size()),
                            std::string(value.data(), value.size()));
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return answer;
}

}  // namespace trelu::testing
