// A request's way through the server without gRPC's calls - decode, validate, compute on this
// thread, encode - as often as it is told, for instructions.py to count. The received message is
// made, and the answer compared, outside of what is counted; and so are the handlers themselves,
// their metrics and the queue, which do not run without calls.
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/computation.h"
#include "core/kernel.h"
#include "proto/apply_codec.h"
#include "server/inference/inference.h"
#include "server/tensor_request.h"
#include "tests/proto/message_bytes.h"
#include "tests/support/infer_tensor.h"
#include "tests/support/wire_tensor.h"

namespace {

using trelu::Computation;
using trelu::Work;
using namespace trelu::server;   // NOLINT(google-build-using-namespace): a program, not a header
using namespace trelu::testing;  // NOLINT(google-build-using-namespace)

enum class Face { kNative, kInference };

// HTTP/2's usual frame (RFC 9113, section 6.5.2, SETTINGS_MAX_FRAME_SIZE). The header stands in the
// first slice, so elements straddle the slices' ends.
constexpr std::size_t kSliceBytes = std::size_t{16} << 10;

// As ThresholdedReluService::Apply.
absl::StatusOr<grpc::ByteBuffer> Apply(grpc::ByteBuffer& message) {
  auto decoded = trelu::DecodeApplyRequest(message);
  if (!decoded.ok()) return decoded.status();
  if (!decoded->tensor) return absl::InvalidArgumentError("tensor: missing");
  const auto request = ReadTensorRequest(*decoded->tensor, decoded->alpha);
  if (!request.ok()) return request.status();
  if (absl::Status bytes = CheckBytes(request->spec, decoded->data.bytes()); !bytes.ok()) {
    return bytes;
  }
  Computation(Work{request->op, decoded->data.MutableSegments()}, nullptr).Run();
  return trelu::EncodeApplyResponse(&request->spec, std::move(decoded->data));
}

// As InferenceService::ModelInfer.
absl::StatusOr<grpc::ByteBuffer> ModelInfer(grpc::ByteBuffer& message) {
  static const ModelCatalog models;
  static trelu::InlineExecutor here;
  static const SharedMemory shared_memory("", {.max_bytes = 0}, here);
  Inference inference(models, shared_memory, std::uint64_t{64} << 20);
  const auto never = std::chrono::system_clock::time_point::max();
  absl::Status status = inference.Take(message, never);
  if (!status.ok()) return status;
  Computation(inference.TakeWork(), nullptr).Run();
  status = inference.Check(absl::OkStatus());
  if (!status.ok()) return status;
  grpc::ByteBuffer response = inference.EncodeResponse(Inference::Within::kUnary);
  inference.Record(status, nullptr);
  return response;
}

absl::StatusOr<grpc::ByteBuffer> Serve(Face face, grpc::ByteBuffer& message) {
  return face == Face::kNative ? Apply(message) : ModelInfer(message);
}

// What is counted: instructions.py knows it by its name.
[[gnu::noinline]] absl::StatusOr<grpc::ByteBuffer> CountedRequest(Face face,
                                                                  grpc::ByteBuffer& message) {
  return Serve(face, message);
}

WireTensorCase Tensor(std::size_t bytes) {
  WireTensorCase tensor{trelu::DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)}, 0.5F, ""};
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    tensor.data += Fixed32(static_cast<float>(i % 7) - 3.0F);
  }
  return tensor;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view name = argc == 4 ? arguments[1] : "";
  if (name != "native" && name != "inference") {
    std::fprintf(stderr, "usage: %s native|inference BYTES REQUESTS\n", arguments[0]);
    return 2;
  }
  const Face face = name == "native" ? Face::kNative : Face::kInference;
  const WireTensorCase tensor = Tensor(std::strtoull(arguments[2], nullptr, 10));
  const int requests = std::atoi(arguments[3]);
  const std::string expected = Expected(tensor);
  const auto infer_request = ToInferRequest(tensor);
  const std::string message = face == Face::kNative ? ToRequest(tensor).SerializeAsString()
                                                    : infer_request.SerializeAsString();
  std::vector<std::size_t> cuts;
  for (std::size_t cut = kSliceBytes; cut < message.size(); cut += kSliceBytes) cuts.push_back(cut);

  // The first requests find symbols that are not bound yet and free lists that are empty.
  constexpr int kFirstRequests = 10;
  for (int i = -kFirstRequests; i < requests; ++i) {
    grpc::ByteBuffer received = Cut(message, cuts);
    const auto response = i < 0 ? Serve(face, received) : CountedRequest(face, received);
    if (!response.ok()) {
      std::fprintf(stderr, "corridor_instructions: %s\n", response.status().ToString().c_str());
      return 1;
    }
    const std::string answer = Join(*response);
    const auto result = face == Face::kNative ? ParseResponse(answer) : std::nullopt;
    if (face == Face::kNative ? !result || !result->Is(tensor, expected)
                              : !IsInferAnswer(answer, infer_request, expected)) {
      std::fprintf(stderr, "corridor_instructions: a wrong answer\n");
      return 1;
    }
  }
  const std::string_view level = trelu::Name(trelu::SupportedKernelLevels().back());
  std::printf("%.*s\n", static_cast<int>(level.size()), level.data());
  return 0;
}
