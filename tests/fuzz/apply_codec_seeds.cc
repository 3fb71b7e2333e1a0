// Writes the inputs that apply_codec_fuzzer begins with into a directory: apply_codec_seeds
// DIRECTORY
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/proto/message_bytes.h"

using trelu::testing::BytesField;
using trelu::testing::FloatField;
using trelu::testing::kEndGroup;
using trelu::testing::kFixed64;
using trelu::testing::kGroup;
using trelu::testing::Tag;
using trelu::testing::Varint;
using trelu::testing::VarintField;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: apply_codec_seeds DIRECTORY\n", stderr);
    return 2;
  }
  const std::string whole(1, '\0');  // no cuts
  const std::string in_three = {'\2', '\2', '\x14'};
  const std::string spec = VarintField(1, 1) + BytesField(2, Varint(2) + Varint(300));
  const std::string tensor = BytesField(1, spec);
  const std::string alpha = FloatField(2, 0.5F);
  const std::string data = BytesField(15, std::string(40, 'x'));
  const std::string negative = BytesField(1, VarintField(1, ~0ULL) + BytesField(2, Varint(~0ULL)));
  const std::array seeds = {
      whole + tensor + alpha + data,
      in_three + tensor + alpha + data,
      whole + data,
      whole + data + tensor + alpha,
      whole + tensor + tensor + alpha + alpha + data + data,
      whole + BytesField(1, VarintField(2, 2) + VarintField(2, 3) + spec) + data,
      in_three + negative + data,
      whole + VarintField(7, 1) + BytesField(8, "later") + Tag(9, kFixed64) + "12345678" + tensor,
      whole + Tag(9, kGroup) + VarintField(1, 1) + Tag(9, kEndGroup) + tensor + data,
      whole + Varint(1 << 3 | 2, 3) + Varint(spec.size(), 5) + spec + data,
      whole + BytesField(1, BytesField(2, std::string(1030, '\1'))) + data,
  };
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(std::string(argv[1]) + "/seed-" + std::to_string(i), std::ios::binary)
        << seeds[i];
  }
  return 0;
}
