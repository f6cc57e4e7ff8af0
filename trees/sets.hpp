// Sets of points for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace epsflow::trees {

/// Disjoint sets, joined by size; finds halve their path.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n), size_(n, 1) { std::iota(parent_.begin(), parent_.end(), 0U); }

  [[nodiscard]] std::uint32_t find(std::uint32_t x) {
    while (parent_[x] != x) {
      parent_[x] = parent_[parent_[x]];
      x = parent_[x];
    }
    return x;
  }
  /// Joins the sets of two different roots, and returns the root of the joined set.
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    return a;
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t root) const { return size_[root]; }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> size_;
};

}  // namespace epsflow::trees
