#include "tests/proto/infer_agreement.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <span>

#include "inference/open_inference.pb.h"
#include "proto/infer_codec.h"
#include "tests/proto/message_bytes.h"

namespace trelu::testing {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

auto* Tensors(ModelInferRequest& message) { return message.mutable_inputs(); }
auto* Tensors(ModelInferResponse& message) { return message.mutable_outputs(); }
auto* Raw(ModelInferRequest& message) { return message.mutable_raw_input_contents(); }
auto* Raw(ModelInferResponse& message) { return message.mutable_raw_output_contents(); }

absl::StatusOr<InferRequest> Decode(grpc::ByteBuffer& received, const ModelInferRequest&) {
  return DecodeModelInferRequest(received);
}
absl::StatusOr<InferResponse> Decode(grpc::ByteBuffer& received, const ModelInferResponse&) {
  return DecodeModelInferResponse(received);
}

grpc::ByteBuffer Encode(const ModelInferRequest& header, std::span<const Payload> raw) {
  return EncodeModelInferRequest(header, raw);
}
grpc::ByteBuffer Encode(const ModelInferResponse& header, std::span<const Payload> raw) {
  return EncodeModelInferResponse(header, raw);
}

// The same bytes for the same fields: maps in order. NaNs are compared by their bits.
std::string Text(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

template <typename Value>
std::string Bytes(const google::protobuf::RepeatedField<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(Value)};
}

// Compares, and takes the typed elements out of `expected`.
template <typename Message>
std::string TensorDifference(const InferTensors& got, Message& expected) {
  auto& raw = *Raw(expected);
  if (got.raw.size() != static_cast<std::size_t>(raw.size())) return "raw: number differs";
  for (int i = 0; i < raw.size(); ++i) {
    if (Join(got.raw[static_cast<std::size_t>(i)].slices()) != raw[i]) return "raw differs";
  }
  auto& tensors = *Tensors(expected);
  if (got.typed.size() != static_cast<std::size_t>(tensors.size())) return "typed: number differs";
  for (int i = 0; i < tensors.size(); ++i) {
    const TypedContents& typed = got.typed[static_cast<std::size_t>(i)];
    if (Join(typed.fp32.slices()) != Bytes(tensors[i].contents().fp32_contents())) {
      return "fp32_contents differ";
    }
    if (Join(typed.fp64.slices()) != Bytes(tensors[i].contents().fp64_contents())) {
      return "fp64_contents differ";
    }
    if (!tensors[i].has_contents()) continue;
    tensors[i].mutable_contents()->clear_fp32_contents();
    tensors[i].mutable_contents()->clear_fp64_contents();
  }
  return {};
}

// Unknown fields aside: deep ones would be too deep in the wrapper.
template <typename Message>
std::string EncodedDifference(InferMessage<Message>& got, Message& expected) {
  got.header.DiscardUnknownFields();
  expected.DiscardUnknownFields();
  Message again;
  if (!again.ParseFromString(Join(Encode(got.header, got.tensors.raw)))) return "encoded badly";
  if (Text(again) != Text(expected)) return "encoded differently";
  if constexpr (std::is_same_v<Message, ModelInferResponse>) {
    inference::ModelStreamInferResponse wrapped;
    const grpc::ByteBuffer encoded = EncodeModelStreamInferResponse(got.header, got.tensors.raw);
    if (!wrapped.ParseFromString(Join(encoded))) return "wrapped badly";
    inference::ModelStreamInferResponse right;
    right.mutable_infer_response()->Swap(&expected);
    if (Text(wrapped) != Text(right)) return "wrapped differently";
  }
  return {};
}

template <typename Message>
std::string Disagreement(std::string_view bytes, grpc::ByteBuffer& received) {
  // Otherwise it writes a line for each string that is not UTF-8.
  [[maybe_unused]] static const bool kQuiet = [] {
    google::protobuf::SetLogHandler(nullptr);
    return true;
  }();

  Message expected;
  const bool valid = expected.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const bool too_many = valid && (Tensors(expected)->size() > static_cast<int>(kMaxInferTensors) ||
                                  Raw(expected)->size() > static_cast<int>(kMaxInferTensors));
  auto got = Decode(received, expected);
  if (got.ok() != (valid && !too_many)) {
    return got.ok() ? "protobuf refuses"
                    : absl::StrCat("protobuf accepts: ", got.status().ToString());
  }
  if (!got.ok()) {
    return got.status().code() == absl::StatusCode::kInvalidArgument ? "" : "wrong status code";
  }

  if (std::string difference = TensorDifference(got->tensors, expected); !difference.empty()) {
    return difference;
  }
  Message whole = expected;
  Raw(expected)->Clear();
  if (Text(got->header) != Text(expected)) return "header differs";
  return EncodedDifference(*got, whole);
}

}  // namespace

std::string InferRequestDisagreement(std::string_view bytes, grpc::ByteBuffer received) {
  return Disagreement<ModelInferRequest>(bytes, received);
}

std::string InferResponseDisagreement(std::string_view bytes, grpc::ByteBuffer received) {
  return Disagreement<ModelInferResponse>(bytes, received);
}

}  // namespace trelu::testing
