// Messages that are encoded badly or unusually: what protobuf would say, in our words.
#include "tests/e2e/bad_input.h"

namespace trelu::testing {
namespace {

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

enum WireType {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroupBegin = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

std::string Tag(int field, WireType type) {
  return Varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}

std::string Bytes(int field, const std::string& value) {
  return Tag(field, kBytes) + Varint(value.size()) + value;
}

std::string Groups(int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i) bytes += Tag(100, kGroupBegin);
  for (int i = 0; i < depth; ++i) bytes += Tag(100, kGroupEnd);
  return bytes;
}

const std::string& GoodMessage() {
  static const std::string message = ToRequest(GoodTensor()).SerializeAsString();
  return message;
}

class MalformedMessage : public BadInput {
 protected:
  // By Apply, alone on a stream, and on a stream after a tensor.
  void ExpectRefusedEverywhere(const std::string& name, const std::string& message,
                               const std::vector<std::string>& named) {
    ExpectRefused(name + " unary", client_.Call(kApply, message).status, grpc::INVALID_ARGUMENT,
                  named);
    ExpectRefused(name + " on a stream", Stream({message}), grpc::INVALID_ARGUMENT, named);
    ExpectOthersUnharmed(name);
  }

  void ExpectGoodResult(const std::string& name, const std::string& message,
                        const WireTensorCase& meant) {
    const Answer answer = client_.Call(kApply, message);
    EXPECT_TRUE(answer.status.ok()) << name << ": " << answer.status.error_message();
    const auto result = ParseResponse(answer.message);
    EXPECT_TRUE(result && result->Is(meant, Expected(meant))) << name;
    // Nothing of what was unusual comes back.
    EXPECT_LT(answer.message.size(), meant.data.size() + 64) << name;
    auto stream = client_.OpenStream();
    EXPECT_TRUE(stream->Write(message)) << name;
    stream->WritesDone();
    const auto streamed = ParseResponse(stream->Read().value_or(""));
    EXPECT_TRUE(streamed && streamed->Is(meant, Expected(meant))) << name;
    EXPECT_TRUE(stream->Finish().ok()) << name;
  }
};

TEST_F(MalformedMessage, IsRefused) {
  const struct {
    const char* name;
    std::string message;
  } cases[] = {
      {"RandomBytes", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
      {"Text", "GET / HTTP/1.1\r\n\r\n"},
      {"FieldZero", GoodMessage() + std::string(1, '\0')},
      {"LengthBeyondTheEnd", GoodMessage() + Tag(7, kBytes) + Varint(100) + "x"},
      {"DataLengthBeyondTheEnd", Tag(15, kBytes) + Varint(9) + "12345678"},
      {"Length2To31", GoodMessage() + Tag(7, kBytes) + Varint(std::uint64_t{1} << 31)},
      {"NegativeLength", Tag(15, kBytes) + Varint(~std::uint64_t{0}) + "12345678"},
      {"DataLength2To64Minus1", GoodMessage() + Tag(15, kBytes) + Varint(~std::uint64_t{0})},
      {"TruncatedPackedShape", Bytes(1, "\x08\x01" + Bytes(2, "\x80")) + Bytes(15, "1234")},
      {"ElevenByteVarint", Tag(7, kVarint) + std::string(10, '\x80') + '\1'},
      {"TruncatedAlpha", GoodMessage() + Tag(2, kFixed32) + "abc"},
      {"GroupWithoutEnd", GoodMessage() + Tag(100, kGroupBegin)},
      {"EndWithoutGroup", GoodMessage() + Tag(100, kGroupEnd)},
      {"WireType6", GoodMessage() + std::string(1, '\x0e')},
      {"Groups101Deep", GoodMessage() + Groups(101)},
      {"Groups100000Deep", GoodMessage() + Groups(100'000)},
  };
  for (const auto& one : cases) {
    ExpectRefusedEverywhere(one.name, one.message,
                            {"malformed ApplyRequest: not a valid protobuf message"});
  }
}

TEST_F(MalformedMessage, InTheMiddleOfAStreamNeverLooksLikeItsEnd) {
  const std::string broken = "\xff\xff\xff";
  ExpectRefused("after a tensor", Stream({GoodMessage(), broken}), grpc::INVALID_ARGUMENT,
                {"malformed ApplyRequest"});
  const auto chunks = ToChunks(GoodTensor(), 4);
  ExpectRefused("inside a tensor",
                Stream({chunks[0].SerializeAsString(), broken, chunks[1].SerializeAsString()}),
                grpc::INVALID_ARGUMENT, {"malformed ApplyRequest"});
}

TEST_F(MalformedMessage, TruncatedAnywhereIsNeverOk) {
  WireTensorCase tensor = GoodTensor();
  tensor.shape = {2, 1, 1};
  const std::string message = ToRequest(tensor).SerializeAsString();
  for (std::size_t size = 0; size < message.size(); ++size) {
    ExpectRefusedEverywhere("cut to " + std::to_string(size), message.substr(0, size), {});
  }
}

TEST_F(MalformedMessage, KnownFieldsOfAnotherTypeCountAsAbsent) {
  ExpectRefusedEverywhere("TensorAsNumber", Tag(1, kVarint) + Varint(5) + Bytes(15, "1234"),
                          {"tensor: missing"});
  ExpectRefusedEverywhere("DTypeAsBytes", Bytes(1, Bytes(1, "\x01")) + Bytes(15, "1234"),
                          {"tensor.dtype = 0"});
  ExpectRefusedEverywhere("DataAsNumber", Bytes(1, "\x08\x01") + Tag(15, kVarint) + Varint(5),
                          {"data: got 0 bytes, expected 4"});
}

TEST_F(MalformedMessage, UnusualButValidEncodingsAreAnswered) {
  const WireTensorCase scalar = {DType::kFloat32, {}, 0.0F, std::string("\0\0\x80\x3f", 4)};
  const WireTensorCase good = GoodTensor();
  const std::string alpha = Tag(2, kFixed32) + std::string(4, '\0');
  const std::string data = Bytes(15, good.data);
  const std::string spec = std::string("\x08\x01") + Bytes(2, "\x02");
  const struct {
    const char* name;
    std::string message;
  } cases[] = {
      {"Usual", Bytes(1, spec) + alpha + data},
      {"ShapeNotPacked", Bytes(1, std::string("\x08\x01\x10\x02")) + alpha + data},
      {"Backwards", data + alpha + Bytes(1, Bytes(2, "\x02") + "\x08\x01")},
      {"OverlongVarints",
       Bytes(1, std::string("\x08\x81\x80\x80\x00\x12\x02\x82\x00", 9)) + alpha + data},
      {"DataTwiceLastWins", Bytes(1, spec) + Bytes(15, "something else") + alpha + data},
      {"AlphaTwiceLastWins", Bytes(1, spec) + Tag(2, kFixed32) + "\x7f\x7f\x7f\x7f" + alpha + data},
      {"TensorInTwoPieces", Bytes(1, "\x08\x0b") + Bytes(1, spec) + alpha + data},
      {"UnknownNumber", Tag(7, kVarint) + Varint(300) + Bytes(1, spec) + alpha + data},
      {"Unknown64Bits", Bytes(1, spec) + Tag(7, kFixed64) + "12345678" + alpha + data},
      {"UnknownGroup", Bytes(1, spec) + Groups(99) + alpha + data},
      {"UnknownInsideTensor", Bytes(1, spec + Bytes(9, "unknown")) + alpha + data},
      {"UnknownAfterData", Bytes(1, spec) + alpha + data + Bytes(3000, "unknown")},
      {"UnknownMebibyte", Bytes(1, spec) + Bytes(7, std::string(1 << 20, 'u')) + alpha + data},
      {"MebibyteOfUnknowns",
       [&] {
         std::string many = Bytes(1, spec) + alpha;
         while (many.size() < 1 << 20) many += Tag(9, kVarint) + Varint(many.size());
         return many + data;
       }()},
  };
  for (const auto& one : cases) ExpectGoodResult(one.name, one.message, good);
  ExpectGoodResult("ShapeAbsent", Bytes(1, "\x08\x01") + alpha + Bytes(15, scalar.data), scalar);
}

}  // namespace
}  // namespace trelu::testing
