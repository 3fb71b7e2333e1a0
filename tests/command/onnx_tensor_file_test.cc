#include "client/command/onnx_tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "onnx/onnx_tensor.pb.h"
#include "tests/command/files.h"

namespace trelu::command {
namespace {

using onnx::TensorProto;
using testing::HasSubstr;

absl::StatusOr<TensorInput> Read(const std::string& bytes, std::optional<DType> stated = {}) {
  return ReadOnnxTensor(OpenBytes(bytes), stated);
}

std::string File(int data_type, const std::vector<std::int64_t>& dims,
                 const std::function<void(TensorProto&)>& fill) {
  TensorProto tensor;
  tensor.set_data_type(data_type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  fill(tensor);
  return tensor.SerializeAsString();
}

std::string Raw(int data_type, const std::vector<std::int64_t>& dims, const std::string& raw) {
  return File(data_type, dims, [&](TensorProto& tensor) { tensor.set_raw_data(raw); });
}

struct GoodCase {
  std::string name;
  std::string file;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::string elements;
};

const GoodCase kGoodCases[] = {
    {"Float16InInt32DataIsBits",
     File(10, {3},
          [](TensorProto& t) {
            for (const int bits : {15872, 48128, 16384}) t.add_int32_data(bits);
          }),
     DType::kFloat16,
     {3},
     Hex("003e 00bc 0040")},
    {"BFloat16InInt32DataIsBits",
     File(16, {2},
          [](TensorProto& t) {
            for (const int bits : {0x3f80, 0xffff}) t.add_int32_data(bits);
          }),
     DType::kBFloat16,
     {2},
     Hex("803f ffff")},
    {"BFloat16Raw", Raw(16, {2}, Hex("803f 0040")), DType::kBFloat16, {2}, Hex("803f 0040")},
    {"Float16Raw", Raw(10, {1}, Hex("003e")), DType::kFloat16, {1}, Hex("003e")},
    {"FloatData",
     File(1, {2}, [](TensorProto& t) { t.add_float_data(1.5F), t.add_float_data(0.5F); }),
     DType::kFloat32,
     {2},
     Hex("0000c03f 0000003f")},
    {"DoubleData",
     File(11, {1}, [](TensorProto& t) { t.add_double_data(1.5); }),
     DType::kFloat64,
     {1},
     Hex("000000000000f83f")},
    {"FloatDataNotPacked", Hex("0801 1001 25 0000c03f"), DType::kFloat32, {1}, Hex("0000c03f")},
    {"DimsPacked",
     Hex("0a02 0102 1001 4a08 0000c03f 0000003f"),
     DType::kFloat32,
     {1, 2},
     Hex("0000c03f 0000003f")},
    {"Scalar", Raw(1, {}, Hex("00002040")), DType::kFloat32, {}, Hex("00002040")},
    {"NoElements", Raw(1, {2, 0}, ""), DType::kFloat32, {2, 0}, ""},
    {"NoElementsNoField", File(1, {0}, [](TensorProto&) {}), DType::kFloat32, {0}, ""},
    {"EmptyRawBesideTyped",
     File(1, {1},
          [](TensorProto& t) {
            t.set_raw_data("");
            t.add_float_data(1.5F);
          }),
     DType::kFloat32,
     {1},
     Hex("0000c03f")},
    {"UnknownFields",
     Raw(1, {1}, Hex("0000c03f")) + Hex("fa07 0178"),
     DType::kFloat32,
     {1},
     Hex("0000c03f")},
};

class OnnxGood : public testing::TestWithParam<GoodCase> {};

TEST_P(OnnxGood, IsRead) {
  const absl::StatusOr<TensorInput> input = Read(GetParam().file);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->spec, *TensorSpec::Create(GetParam().dtype, GetParam().shape));
  EXPECT_EQ(*ReadAll(input->source, input->spec.bytes(), 3), GetParam().elements);
}

INSTANTIATE_TEST_SUITE_P(OnnxTensorFile, OnnxGood, testing::ValuesIn(kGoodCases),
                         [](const auto& info) { return info.param.name; });

struct BadCase {
  std::string name;
  std::string file;
  std::string message;
};

const BadCase kBadCases[] = {
    {"Empty", "", "data_type = 0"},
    {"NotProtobuf", "\xff\xff\xff\xff garbage", "protobuf cannot parse it"},
    {"HugeFieldLength", Hex("0801 1001 4a ffffffff07 0000"), "protobuf cannot parse it"},
    {"Int64", File(7, {1}, [](TensorProto& t) { t.add_int64_data(1); }),
     "data_type = 7: expected FLOAT"},
    {"OneFloatOfFour", File(1, {4}, [](TensorProto& t) { t.add_float_data(1); }),
     "float_data = 1 elements: expected 4"},
    {"FifteenBytesOfSixteen", Raw(1, {4}, std::string(15, '\0')),
     "raw_data = 15 bytes: expected 16"},
    {"FiveBytesOfFour", Raw(1, {1}, std::string(5, '\0')), "raw_data = 5 bytes: expected 4"},
    {"ScalarWithoutData", File(1, {}, [](TensorProto&) {}), "data = 0 bytes: expected 4"},
    {"NegativeDim", Raw(1, {2, -1}, ""), "shape[1] = -1"},
    {"DimsOverflow", Raw(1, {4294967296, 4294967296, 16}, ""), "shape"},
    {"DimsHuge", Raw(1, {std::int64_t{1} << 40}, "1234"),
     "raw_data = 4 bytes: expected 4398046511104"},
    {"BitsNegative", File(10, {1}, [](TensorProto& t) { t.add_int32_data(-1); }),
     "int32_data[0] = -1: expected a 16-bit pattern"},
    {"BitsTooWide", File(16, {1}, [](TensorProto& t) { t.add_int32_data(65536); }),
     "int32_data[0] = 65536"},
    {"FieldOfAnotherType", File(1, {1}, [](TensorProto& t) { t.add_double_data(1); }),
     "data in double_data: expected raw_data or float_data for float32"},
    {"StringData", File(1, {1}, [](TensorProto& t) { t.add_string_data("1.0"); }),
     "data in string_data"},
    {"RawAndTyped",
     File(1, {1},
          [](TensorProto& t) {
            t.set_raw_data("1234");
            t.add_float_data(1);
          }),
     "raw_data and float_data both hold data"},
    {"Segment",
     File(1, {1},
          [](TensorProto& t) {
            t.mutable_segment()->set_begin(0);
            t.set_raw_data("1234");
          }),
     "segment is set"},
    {"ExternalLocation",
     File(1, {1},
          [](TensorProto& t) {
            t.set_data_location(TensorProto::EXTERNAL);
            auto* entry = t.add_external_data();
            entry->set_key("location");
            entry->set_value("../../etc/hostname");
          }),
     "data_location = EXTERNAL"},
    {"ExternalDataAlone",
     File(1, {1},
          [](TensorProto& t) {
            t.set_raw_data("1234");
            t.add_external_data()->set_key("location");
          }),
     "data_location = EXTERNAL"},
};

class OnnxBad : public testing::TestWithParam<BadCase> {};

TEST_P(OnnxBad, IsRefusedByField) {
  const absl::StatusOr<TensorInput> input = Read(GetParam().file);
  ASSERT_FALSE(input.ok());
  EXPECT_EQ(input.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(input.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(OnnxTensorFile, OnnxBad, testing::ValuesIn(kBadCases),
                         [](const auto& info) { return info.param.name; });

TEST(OnnxTensorFile, StatedDTypeMustBeTheFiles) {
  EXPECT_TRUE(Read(Raw(1, {1}, "1234"), DType::kFloat32).ok());
  EXPECT_THAT(std::string(Read(Raw(1, {1}, "1234"), DType::kFloat16).status().message()),
              HasSubstr("data_type = float32: expected float16"));
}

TEST(OnnxTensorFile, EveryCutIsRefused) {
  const std::string file = Raw(1, {2}, "12345678");
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(Read(file.substr(0, length)).ok()) << length;
  }
}

TEST(OnnxTensorFile, EveryByteMayBeAnything) {
  const std::string file = File(10, {2}, [](TensorProto& t) {
    t.add_int32_data(1);
    t.add_int32_data(40000);
  });
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      const absl::StatusOr<TensorInput> input = Read(changed);
      if (input.ok()) {
        EXPECT_TRUE(ReadAll(input->source, input->spec.bytes(), 64).ok());
      }
    }
  }
}

TEST(OnnxTensorFile, IsReadBack) {
  for (const DType dtype : kAllDTypes) {
    const auto spec = *TensorSpec::Create(dtype, std::vector<std::int64_t>{2, 3});
    const std::string data(spec.bytes(), 'x');
    const absl::StatusOr<TensorInput> input = Read(*OnnxTensorFile(spec, "y", data));
    ASSERT_TRUE(input.ok()) << input.status();
    EXPECT_EQ(input->spec, spec);
    EXPECT_EQ(input->name, "y");
    EXPECT_EQ(*ReadAll(input->source, spec.bytes(), 64), data);
  }
}

}  // namespace
}  // namespace trelu::command
