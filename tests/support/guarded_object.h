// A shared memory object mapped under a BusErrorGuard, for tests that shrink it.
#ifndef TRELU_TESTS_SUPPORT_GUARDED_OBJECT_H_
#define TRELU_TESTS_SUPPORT_GUARDED_OBJECT_H_

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "server/shared_memory/bus_error_guard.h"
#include "tests/support/shared_object.h"

namespace trelu::testing {

inline constexpr float kPassing = 2.0F;

// An object full of kPassing, mapped and guarded.
class GuardedObject {
 public:
  // `at`: where to map it; null: anywhere.
  explicit GuardedObject(std::size_t bytes, std::byte* at = nullptr) : object_(bytes) {
    object_.Fill(bytes / sizeof(float), kPassing);
    object_.Unlink();
    void* const mapped = mmap(at, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), object_.fd(), 0);
    EXPECT_NE(mapped, MAP_FAILED);
    bytes_ = {static_cast<std::byte*>(mapped), bytes};
    guard_.emplace(server::BusErrorGuard::Create(bytes_).value());
  }
  GuardedObject(const GuardedObject&) = delete;
  GuardedObject& operator=(const GuardedObject&) = delete;
  ~GuardedObject() {
    guard_.reset();
    munmap(bytes_.data(), bytes_.size());
  }

  std::span<std::byte> bytes() const { return bytes_; }
  float* floats() const { return reinterpret_cast<float*>(bytes_.data()); }
  const SharedObject& object() const { return object_; }
  bool lost() const { return guard_->lost(); }

 private:
  SharedObject object_;
  std::span<std::byte> bytes_;
  std::optional<server::BusErrorGuard> guard_;
};

// The elements before the first zero, if only zeros follow.
inline std::optional<std::size_t> PassingPrefix(const std::vector<float>& y) {
  const auto end = std::find_if(y.begin(), y.end(), [](float v) { return v != kPassing; });
  if (std::any_of(end, y.end(), [](float v) { return v != 0; })) return std::nullopt;
  return static_cast<std::size_t>(end - y.begin());
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_GUARDED_OBJECT_H_
