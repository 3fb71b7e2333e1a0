#include "client/command/checksum.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/command/files.h"

namespace trelu::command {
namespace {

struct Row {
  std::string bytes;
  std::uint32_t crc;
};

std::string Counting(int from, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(from + i * step);
  return bytes;
}

// RFC 3720, appendix B.4, and the usual check value.
const Row kRows[] = {
    {"", 0},
    {"123456789", 0xe3069283},
    {std::string(32, '\0'), 0x8a9136aa},
    {std::string(32, '\xff'), 0x62a8ab43},
    {Counting(0, 1), 0x46dd794e},
    {Counting(31, -1), 0x113fdb5c},
};

TEST(Crc32c, IsTheStandardsOwn) {
  for (const Row& row : kRows) {
    Crc32c crc;
    Crc32c portable;
    crc.Add(AsBytes(row.bytes));
    portable.AddPortably(AsBytes(row.bytes));
    EXPECT_EQ(crc.value(), row.crc);
    EXPECT_EQ(portable.value(), row.crc);
  }
}

TEST(Crc32c, DoesNotMindWhereTheBytesAreCut) {
  const std::string bytes = Counting(7, 11);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    Crc32c crc;
    crc.Add(AsBytes(bytes).first(first));
    crc.AddPortably(AsBytes(bytes).subspan(first));
    Crc32c whole;
    whole.Add(AsBytes(bytes));
    EXPECT_EQ(crc.value(), whole.value()) << first;
  }
}

TEST(Crc32c, HexHasEightDigits) { EXPECT_EQ(Crc32c().Hex(), "00000000"); }

}  // namespace
}  // namespace trelu::command
