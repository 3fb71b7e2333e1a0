#include "client/command/generated_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace trelu::command {
namespace {

constexpr std::size_t kBlockWords = 8192;
constexpr std::uint64_t kWordBytes = 8;

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), as a
// function of its counter.
std::uint64_t SplitMix(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// How elements lie in a word of eight bytes.
struct Layout {
  std::uint64_t sign;
  std::uint64_t mantissa;
  std::uint64_t exponent_low;   // two random bits; biased exponents are then bias - 2 to bias + 1
  std::uint64_t exponent_base;  // biased exponent bias - 2
};

Layout LayoutOf(DType dtype) {
  const auto layout = [](unsigned element_bits, unsigned mantissa_bits, std::uint64_t bias) {
    std::uint64_t ones = 0;  // the lowest bit of each element
    for (unsigned at = 0; at < 64; at += element_bits) ones |= std::uint64_t{1} << at;
    return Layout{ones << (element_bits - 1), ones * ((std::uint64_t{1} << mantissa_bits) - 1),
                  ones * (std::uint64_t{3} << mantissa_bits), ones * ((bias - 2) << mantissa_bits)};
  };
  switch (dtype) {
    case DType::kFloat16:
      return layout(16, 10, 15);
    case DType::kBFloat16:
      return layout(16, 7, 127);
    case DType::kFloat32:
      return layout(32, 23, 127);
    case DType::kFloat64:
      return layout(64, 52, 1023);
  }
  return {};
}

// A block of random elements, made once; every repetition flips mantissa bits of its own.
class Generator {
 public:
  Generator(DType dtype, std::uint64_t seed)
      : seed_(seed), mantissa_(LayoutOf(dtype).mantissa), block_(kBlockWords) {
    const Layout layout = LayoutOf(dtype);
    for (std::size_t i = 0; i < kBlockWords; ++i) {
      const std::uint64_t random = SplitMix(seed, i);
      block_[i] = (random & (layout.sign | layout.mantissa)) +
                  (layout.exponent_base + (random & layout.exponent_low));
    }
  }

  void Fill(std::span<std::byte> buffer) {
    while (!buffer.empty()) {
      const auto in_block = static_cast<std::size_t>(position_ / kWordBytes % kBlockWords);
      const std::uint64_t flips =
          SplitMix(~seed_, position_ / (kWordBytes * kBlockWords)) & mantissa_;
      const std::size_t in_word = position_ % kWordBytes;
      std::size_t bytes = 0;
      if (in_word == 0 && buffer.size() >= kWordBytes) {
        const std::size_t words = std::min(buffer.size() / kWordBytes, kBlockWords - in_block);
        bytes = words * kWordBytes;
        FillWords(&block_[in_block], flips, words, buffer.data());
      } else {
        const std::uint64_t word = block_[in_block] ^ flips;
        bytes = std::min<std::size_t>(buffer.size(), kWordBytes - in_word);
        std::memcpy(buffer.data(), reinterpret_cast<const std::byte*>(&word) + in_word, bytes);
      }
      position_ += bytes;
      buffer = buffer.subspan(bytes);
    }
  }

 private:
  static void FillWords(const std::uint64_t* block, std::uint64_t flips, std::size_t words,
                        std::byte* to) {
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t word = block[i] ^ flips;
      std::memcpy(to + i * kWordBytes, &word, kWordBytes);
    }
  }

  std::uint64_t seed_;
  std::uint64_t mantissa_;
  std::vector<std::uint64_t> block_;
  std::uint64_t position_ = 0;
};

}  // namespace

Client::Source RandomSource(DType dtype, std::uint64_t seed) {
  return [generator = Generator(dtype, seed)](std::span<std::byte> buffer) mutable {
    generator.Fill(buffer);
    return absl::OkStatus();
  };
}

Client::Source ZerosSource() {
  return [](std::span<std::byte> buffer) {
    std::memset(buffer.data(), 0, buffer.size());
    return absl::OkStatus();
  };
}

}  // namespace trelu::command
