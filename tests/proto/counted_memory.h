// Counts what the program allocates by operator new, which a program that links this replaces. What
// C code allocates, such as gRPC's slices, is not counted.
#ifndef TRELU_TESTS_PROTO_COUNTED_MEMORY_H_
#define TRELU_TESTS_PROTO_COUNTED_MEMORY_H_

#include <cstddef>

namespace trelu::testing {

// Since its construction; one at a time.
class CountedMemory {
 public:
  CountedMemory();

  std::size_t allocations() const;
  // The most bytes held at once beyond those held at the start.
  std::size_t peak_bytes() const;

 private:
  std::size_t allocations_before_;
  std::size_t bytes_before_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_PROTO_COUNTED_MEMORY_H_
