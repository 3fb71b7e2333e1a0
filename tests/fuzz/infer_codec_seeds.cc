// Writes the inputs that infer_codec_fuzzer begins with into a directory: infer_codec_seeds
// DIRECTORY
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/proto/message_bytes.h"

using trelu::testing::BytesField;
using trelu::testing::Fixed32;
using trelu::testing::Fixed64;
using trelu::testing::FloatField;
using trelu::testing::kEndGroup;
using trelu::testing::kFixed64;
using trelu::testing::kGroup;
using trelu::testing::Tag;
using trelu::testing::Varint;
using trelu::testing::VarintField;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: infer_codec_seeds DIRECTORY\n", stderr);
    return 2;
  }
  const std::string whole(1, '\0');  // no cuts
  const std::string in_three = {'\2', '\x0c', '\x14'};
  const std::string model = BytesField(1, "model") + BytesField(3, "id");
  const std::string parameter =
      BytesField(4, BytesField(1, "alpha") + BytesField(2, Tag(4, kFixed64) + Fixed64(0.5)));
  const std::string tensor = BytesField(1, "X") + BytesField(2, "FP32") + BytesField(3, Varint(4));
  const std::string input = BytesField(5, tensor);
  const std::string output = BytesField(6, BytesField(1, "Y"));
  const std::string raw = BytesField(7, std::string(40, 'x'));
  const std::string fp32 = BytesField(6, Fixed32(1) + Fixed32(2));
  const std::string fp64 = BytesField(7, Fixed64(1));
  const std::string element32 = FloatField(6, 3);
  const std::string element64 = Tag(7, kFixed64) + Fixed64(4);
  const std::string group = Tag(9, kGroup) + VarintField(1, 1) + Tag(9, kEndGroup);
  const auto typed = [&tensor](const std::string& contents) {
    return BytesField(5, tensor + BytesField(5, contents));
  };
  const std::array seeds = {
      whole + model + parameter + input + output + raw,
      in_three + model + parameter + input + output + raw,
      whole + model + input + BytesField(6, std::string(40, 'x')),  // a response's
      whole + raw + raw + BytesField(7, "") + model,
      whole + model + typed(fp32),
      in_three + model + typed(fp64) + typed(fp32),
      whole + typed(element32 + element32 + fp32 + element64 + fp64 + element64),
      whole + typed(BytesField(6, std::string(300, 'x')) + element32) + raw,
      whole + BytesField(5, BytesField(5, fp32) + parameter + BytesField(5, element32)),
      whole + typed(VarintField(2, 7) + BytesField(8, "bytes") + fp32),
      whole + group + input + VarintField(7, 1) + BytesField(9, "later") + raw,
      whole + typed(group) + BytesField(5, group + tensor),
      whole + Varint(7 << 3 | 2, 3) + Varint(3, 5) + "abc" + Varint(5 << 3 | 2, 2) + Varint(0, 4),
  };
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(std::string(argv[1]) + "/seed-" + std::to_string(i), std::ios::binary)
        << seeds[i];
  }
  return 0;
}
