// Whether an element is above alpha, type by type, on bits: the condition of the kernel's loop.
#ifndef TRELU_CORE_ABOVE_ALPHA_H_
#define TRELU_CORE_ABOVE_ALPHA_H_

#include <bit>
#include <cstdint>

// A function of any instruction set takes these in, so that the compiler vectorises its loop.
#define TRELU_INLINE inline __attribute__((always_inline))

namespace trelu {

// Each class is made from alpha's bits in the element's type and called with an element's; an
// ordered IEEE comparison, false for every NaN.

// The types that the processor compares.
template <typename Number, typename BitsType>
class Above {
 public:
  using Bits = BitsType;
  TRELU_INLINE explicit Above(Bits alpha) : alpha_(std::bit_cast<Number>(alpha)) {}
  TRELU_INLINE bool operator()(Bits x) const { return alpha_ < std::bit_cast<Number>(x); }

 private:
  Number alpha_;
};

// 16-bit types are compared as the integers that their bits are, many more at a time than as
// numbers converted to float32. The bits rise from +0 over +infinity (`kInfinity`) and the positive
// NaNs to -0, and on, away from zero, over -infinity to the negative NaNs.
constexpr std::uint16_t kMinusZero = 0x8000;

// For an alpha below zero. Above it: bits less than its own, but no positive NaN.
template <std::uint16_t kInfinity>
class AboveNegative {
 public:
  using Bits = std::uint16_t;
  TRELU_INLINE explicit AboveNegative(Bits alpha) : alpha_(alpha) {}
  TRELU_INLINE bool operator()(Bits x) const {
    constexpr Bits kFirstNan = kInfinity + 1;
    constexpr Bits kNans = kMinusZero - kFirstNan;
    return x < alpha_ && static_cast<Bits>(x - kFirstNan) >= kNans;
  }

 private:
  Bits alpha_;
};

// For any other alpha. Above it: the bits after its own, up to +infinity; above a NaN: none.
template <std::uint16_t kInfinity>
class AboveNotNegative {
 public:
  using Bits = std::uint16_t;
  TRELU_INLINE explicit AboveNotNegative(Bits alpha) {
    if (alpha == kMinusZero) alpha = 0;
    if (alpha > kInfinity) alpha = kInfinity;
    first_ = static_cast<Bits>(alpha + 1);
    count_ = static_cast<Bits>(kInfinity - alpha);
  }
  TRELU_INLINE bool operator()(Bits x) const { return static_cast<Bits>(x - first_) < count_; }

 private:
  Bits first_;
  Bits count_;
};

}  // namespace trelu

#endif  // TRELU_CORE_ABOVE_ALPHA_H_
