// Random damage to messages, repeatable by its seed.
#ifndef TRELU_TESTS_PROTO_MUTATION_H_
#define TRELU_TESTS_PROTO_MUTATION_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace trelu::testing {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  // Below `bound`.
  std::size_t Below(std::size_t bound) { return engine_() % bound; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  std::uint64_t Bits() { return std::uint64_t{engine_()} << 32 | engine_(); }
  // Bytes that matter to a parser more often than others do: one of `telling`, or any.
  char Byte(std::string_view telling);

 private:
  std::mt19937 engine_;
};

// Changes `bytes` in one place. `valid`: a message of which fields may be added at the end.
void Damage(Random& random, std::string_view telling, std::string_view valid, std::string& bytes);

grpc::ByteBuffer CutAtRandom(Random& random, std::string_view bytes);

std::string Hex(std::string_view bytes);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_PROTO_MUTATION_H_
