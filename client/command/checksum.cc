#include "client/command/checksum.h"

#include <absl/strings/str_format.h>

#include <array>
#include <cstring>

namespace trelu::command {
namespace {

// Tables[k][b]: the CRC of byte b followed by k zero bytes, so that eight bytes take eight look-ups
// which do not wait for each other.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

std::uint32_t Portable(std::uint32_t crc, std::span<const std::byte> bytes) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ByInstruction(std::uint32_t crc,
                                                              std::span<const std::byte> bytes) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) {
    crc = __builtin_ia32_crc32qi(crc, std::to_integer<unsigned char>(byte));
  }
  return crc;
}

bool HasInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#else
std::uint32_t ByInstruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return Portable(crc, bytes);
}

bool HasInstruction() { return false; }
#endif

}  // namespace

void Crc32c::Add(std::span<const std::byte> bytes) {
  state_ = HasInstruction() ? ByInstruction(state_, bytes) : Portable(state_, bytes);
}

void Crc32c::AddPortably(std::span<const std::byte> bytes) { state_ = Portable(state_, bytes); }

std::string Crc32c::Hex() const { return absl::StrFormat("%08x", value()); }

}  // namespace trelu::command
