#include "tests/benchmark/load/payload.h"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace trelu::benchmark {

std::string MakePayload(std::size_t bytes) {
  std::string payload(bytes, '\0');
  std::uint32_t random = 1;
  for (std::size_t at = 0; at + sizeof(float) <= bytes; at += sizeof(float)) {
    random = random * 1664525U + 1013904223U;
    float element = static_cast<float>(random >> 16) / 16384.0F - 2.0F;  // -2 to 2
    if (random % 97 == 0) element = std::numeric_limits<float>::quiet_NaN();
    if (random % 97 == 1) element = std::copysign(0.0F, element);
    std::memcpy(&payload[at], &element, sizeof element);
  }
  return payload;
}

std::string OperatorOf(const std::string& x) {
  std::string y = x;
  for (std::size_t at = 0; at + sizeof(float) <= y.size(); at += sizeof(float)) {
    float element = 0;
    std::memcpy(&element, &y[at], sizeof element);
    if (!(kAlpha < element)) std::memset(&y[at], 0, sizeof element);
  }
  return y;
}

void Fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what.c_str());
  std::exit(1);
}

}  // namespace trelu::benchmark
