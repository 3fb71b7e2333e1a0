#include "client/command/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "client/command/npy.h"
#include "client/command/onnx_tensor_file.h"
#include "tests/command/files.h"
#include "tests/command/local_client.h"

namespace trelu::command {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ApplyTest : public testing::Test {
 protected:
  // Runs the request, once as one call and once as a stream, which must end and print alike.
  ExitCode Run() {
    request_.target = "host:1";
    request_.stream_above_bytes = 1 << 20;
    const ExitCode code = RunOnce();
    const std::string out = out_;
    const std::string error = error_;
    request_.stream_above_bytes = 0;
    EXPECT_EQ(RunOnce(), code);
    if (request_.output != "checksum:") {
      EXPECT_EQ(out_, out);
    }
    EXPECT_EQ(error_, error);
    return code;
  }

  std::string Npy(DType dtype, const std::vector<std::int64_t>& shape, const std::string& data,
                  bool fortran = false) {
    return folder_.Write("x.npy", NpyPreamble(*TensorSpec::Create(dtype, shape), fortran) + data);
  }

  TemporaryFolder folder_;
  LocalClient client_;
  ApplyRequest request_;
  std::string out_;
  std::string error_;

 private:
  ExitCode RunOnce() {
    std::FILE* out = std::tmpfile();
    testing::internal::CaptureStderr();
    const ExitCode code = Apply(request_, client_, out);
    error_ = testing::internal::GetCapturedStderr();
    out_.assign(static_cast<std::size_t>(std::ftell(out)), '\0');
    std::rewind(out);
    EXPECT_EQ(std::fread(out_.data(), 1, out_.size(), out), out_.size());
    std::fclose(out);
    return code;
  }
};

const std::string kOneAndHalf = Hex("0000c03f 0000003f");

TEST_F(ApplyTest, ShowsASmallResult) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "float32 [2]\n[1.5,   0]\n");
  EXPECT_EQ(error_, "");
  EXPECT_EQ(client_.calls, 2);
  EXPECT_EQ(client_.streams, 1);
  EXPECT_FALSE(client_.last_options.alpha.has_value());
}

TEST_F(ApplyTest, SendsTheAlphaThatWasGiven) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  request_.alpha = 0.0F;
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "float32 [2]\n[1.5, 0.5]\n");
}

TEST_F(ApplyTest, ShowsScalarsAndTensorsWithoutElements) {
  request_.input = Npy(DType::kFloat32, {}, Hex("00002040"));
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "float32 []\n2.5\n");
  request_.input = Npy(DType::kFloat64, {2, 0}, "");
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "float64 [2, 0]\n[]\n");
}

// Data order 0 3 1 4 2 5 is [[0, 1, 2], [3, 4, 5]].
const std::string kFortran = Hex("00000000 00004040 0000803f 00008040 00000040 0000a040");
const std::string kRowMajorResult = Hex("00000000 00000000 00000040 00004040 00008040 0000a040");
const std::string kFortranResult = Hex("00000000 00004040 00000000 00008040 00000040 0000a040");

TEST_F(ApplyTest, ShowsFortranOrderAsItIsMeant) {
  request_.input = Npy(DType::kFloat32, {2, 3}, kFortran, true);
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "float32 [2, 3]\n[[0, 0, 2],\n [3, 4, 5]]\n");
}

TEST_F(ApplyTest, WritesNpyInTheOrderOfTheInput) {
  request_.input = Npy(DType::kFloat32, {2, 3}, kFortran, true);
  request_.output = folder_.Path("y.npy");
  EXPECT_EQ(Run(), kOk);
  const auto spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2, 3});
  EXPECT_EQ(ReadFile(request_.output), NpyPreamble(spec, true) + kFortranResult);
  EXPECT_EQ(out_, "");
}

TEST_F(ApplyTest, WritesOtherFormatsRowMajor) {
  request_.input = Npy(DType::kFloat32, {2, 3}, kFortran, true);
  request_.output = folder_.Path("y.raw");
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(ReadFile(request_.output), kRowMajorResult);
  request_.output = folder_.Path("y.pb");
  EXPECT_EQ(Run(), kOk);
  const auto spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2, 3});
  EXPECT_EQ(ReadFile(request_.output), *OnnxTensorFile(spec, "", kRowMajorResult));
}

TEST_F(ApplyTest, ReadsBigEndianAndWritesLittleEndian) {
  request_.input =
      folder_.Write("x.npy", std::string(kNpyMagic) + std::string("\1\0\x3c\0", 4) +
                                 "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }  \n" +
                                 Hex("3fc00000 3f000000"));
  request_.output = folder_.Path("y.npy");
  EXPECT_EQ(Run(), kOk) << error_;
  const auto spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2});
  EXPECT_EQ(ReadFile(request_.output), NpyPreamble(spec, false) + Hex("0000c03f 00000000"));
}

TEST_F(ApplyTest, ReadsRawBytesOfAStatedKind) {
  request_.input = folder_.Write("x", Hex("803f 0040"));
  request_.flags.dtype = DType::kBFloat16;
  request_.flags.shape = {2};
  request_.verify = true;
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(out_, "bfloat16 [2]\n[0, 2]\nverified  as computed here\n");
}

TEST_F(ApplyTest, KeepsTheNameOfAnOnnxTensor) {
  const auto spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2});
  request_.input = folder_.Write("x.pb", *OnnxTensorFile(spec, "x", kOneAndHalf));
  request_.output = folder_.Path("y");  // no extension: as the input
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(ReadFile(request_.output), *OnnxTensorFile(spec, "x", Hex("0000c03f 00000000")));
}

TEST_F(ApplyTest, ReplacesItsOwnInput) {
  request_.input = folder_.Write("x.raw", kOneAndHalf);
  request_.flags.dtype = DType::kFloat32;
  request_.flags.shape = {2};
  request_.output = request_.input;
  EXPECT_EQ(Run(), kOk);
  EXPECT_EQ(ReadFile(request_.input), Hex("0000c03f 00000000"));
}

TEST_F(ApplyTest, SummarisesALargeResult) {
  request_.input = "random:42";
  request_.flags.dtype = DType::kFloat16;
  request_.flags.shape = {10, 1000};
  request_.verify = true;
  EXPECT_EQ(Run(), kOk);
  EXPECT_THAT(out_, StartsWith("float16 [10, 1000], 19.5 KiB\nnonzero   2"));
  EXPECT_THAT(out_, HasSubstr("verified"));
}

TEST_F(ApplyTest, ChecksumIsOfTheResult) {
  request_.input = "zeros:";
  request_.flags.dtype = DType::kFloat64;
  request_.flags.shape = {4};
  request_.output = "checksum:";
  EXPECT_EQ(Run(), kOk);
  EXPECT_THAT(out_, StartsWith("float64 [4], 32 B\ncrc32c    8a9136aa\ntime "));
}

TEST_F(ApplyTest, FindsAWrongAnswer) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  request_.output = folder_.Path("y.npy");
  request_.verify = true;
  client_.distort = [](std::span<std::byte> y) { y[1] ^= std::byte{1}; };
  EXPECT_EQ(Run(), kWrongAnswer);
  EXPECT_THAT(error_, StartsWith("trelu: host:1: DATA_LOSS: the result is wrong: crc32c = "));
  EXPECT_EQ(folder_.FileCount(), 1U);
}

TEST_F(ApplyTest, ReportsTheServersErrorAndKeepsTheOldFile) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  request_.output = folder_.Write("y.npy", "old");
  client_.failure = absl::ResourceExhaustedError("tensor = 8 bytes: over --max-message-bytes");
  EXPECT_EQ(Run(), kTooLarge);
  EXPECT_EQ(error_,
            "trelu: host:1: RESOURCE_EXHAUSTED: tensor = 8 bytes: over --max-message-bytes\n");
  EXPECT_EQ(ReadFile(request_.output), "old");
  EXPECT_EQ(folder_.FileCount(), 2U);
}

TEST_F(ApplyTest, ReportsABadOutput) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  request_.output = "/dev/full";
  request_.output_format = FileFormat::kRaw;
  EXPECT_EQ(Run(), kBadOutput);
  EXPECT_THAT(error_, StartsWith("trelu: /dev/full: cannot be written"));
  request_.output = folder_.Path("none/y.npy");
  EXPECT_EQ(Run(), kBadOutput);
}

struct BadRow {
  std::string name;
  std::string file;  // its name; "random:" and the like are no files
  std::string bytes;
  std::optional<DType> dtype;
  std::vector<std::int64_t> shape;  // empty: not given
  std::optional<FileFormat> format;
  ExitCode code;
  std::string message;
};

const BadRow kBadRows[] = {
    {"BrokenNpy", "x.npy", "junk", {}, {}, {}, kBadInput, "not an .npy file"},
    {"BrokenPb", "x.pb", "\xff", {}, {}, {}, kBadInput, "not an ONNX TensorProto"},
    {"UnknownFormat", "x", "junk", {}, {}, {}, kUsage, "unknown format: expected --format"},
    {"RawWithoutShape",
     "x.raw",
     "1234",
     DType::kFloat32,
     {},
     {},
     kUsage,
     "expected --dtype and --shape"},
    {"RawShort", "x.raw", "123", DType::kFloat32, {1}, {}, kBadInput, "data = 3 bytes: expected 4"},
    {"NegativeShape", "x.raw", "1234", DType::kFloat32, {-1}, {}, kUsage, "shape[0] = -1"},
    {"FormatFlagWins", "x.raw", "1234", {}, {}, FileFormat::kNpy, kBadInput, "not an .npy file"},
    {"RandomWithoutDType", "random:1", "", {}, {1}, {}, kUsage, "expected --dtype and --shape"},
    {"RandomWithoutSeed", "random:", "", DType::kFloat32, {1}, {}, kUsage, "expected random:SEED"},
    {"RandomWithWords", "random:1x", "", DType::kFloat32, {1}, {}, kUsage, "expected random:SEED"},
};

TEST_F(ApplyTest, SaysWhatIsWrongWithTheInput) {
  for (const BadRow& row : kBadRows) {
    SCOPED_TRACE(row.name);
    request_.input =
        row.file.starts_with("random:") ? row.file : folder_.Write(row.file, row.bytes);
    request_.flags = TensorFlags();
    request_.flags.dtype = row.dtype;
    if (!row.shape.empty()) request_.flags.shape = row.shape;
    request_.flags.format = row.format;
    EXPECT_EQ(Run(), row.code);
    EXPECT_THAT(error_, StartsWith("trelu: " + request_.input + ": "));
    EXPECT_THAT(error_, HasSubstr(row.message));
  }
  EXPECT_EQ(client_.calls, 0);
}

TEST_F(ApplyTest, AShapeInTheFlagsMustBeTheFiles) {
  request_.input = Npy(DType::kFloat32, {2}, kOneAndHalf);
  request_.flags.shape = {1, 2};
  EXPECT_EQ(Run(), kBadInput);
  EXPECT_THAT(error_, HasSubstr("tensor = float32 [2]: expected the shape of --shape"));
}

TEST_F(ApplyTest, FindsNpyWithoutItsExtension) {
  request_.input = folder_.Write("x", ReadFile(Npy(DType::kFloat32, {2}, kOneAndHalf)));
  EXPECT_EQ(Run(), kOk);
}

}  // namespace
}  // namespace trelu::command
