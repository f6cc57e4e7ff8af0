// Numbers that look random, and are equal on every machine: splitmix64 (Steele et al. 2014).
#pragma once

#include <cstdint>

namespace epsflow {

inline constexpr std::uint64_t kScatterStep = 0x9E3779B97F4A7C15;

/// Returns a number that looks random and depends on x alone.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) noexcept {
  x += kScatterStep;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Returns one such number after another.
class Scattered {
 public:
  explicit Scattered(std::uint64_t seed = 0) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    const std::uint64_t number = scatter(state_);
    state_ += kScatterStep;
    return number;
  }

 private:
  std::uint64_t state_;
};

}  // namespace epsflow
