#include "tests/proto/mutation.h"

#include <vector>

#include "tests/proto/message_bytes.h"

namespace trelu::testing {

char Random::Byte(std::string_view telling) {
  return OneIn(3) ? static_cast<char>(Below(256)) : telling[Below(telling.size())];
}

void Damage(Random& random, std::string_view telling, std::string_view valid, std::string& bytes) {
  const std::size_t at = random.Below(bytes.size() + 1);
  switch (random.Below(6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = random.Byte(telling);
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
      break;
    case 2:
      bytes.insert(at, 1, random.Byte(telling));
      break;
    case 3:
      bytes.erase(at, 1 + random.Below(3));
      break;
    case 4:  // fields again, or pieces of them
      bytes.insert(at, bytes.substr(random.Below(bytes.size() + 1), random.Below(12)));
      break;
    default:
      bytes += valid;
  }
}

grpc::ByteBuffer CutAtRandom(Random& random, std::string_view bytes) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = random.Below(40); at < bytes.size(); at += random.Below(40)) {
    cuts.push_back(at);
    if (random.OneIn(4)) break;
  }
  return Cut(bytes, cuts);
}

std::string Hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<std::uint8_t>(byte) >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace trelu::testing
