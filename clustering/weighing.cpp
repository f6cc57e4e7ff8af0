#include <epsflow/clustering/weighing.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>

namespace epsflow::clustering {
namespace {

constexpr std::size_t kGrain = 1 << 14;

}  // namespace

Weighing::Weighing(const WholeWeights& weights, std::span<const std::uint32_t> minpts,
                   std::span<const std::uint32_t> order, const Ghosts& ghosts)
    : levels_(weights, minpts), units_(order.size()) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, order.size(), kGrain), [&](const auto& range) {
    for (std::size_t p = range.begin(); p < range.end(); ++p) units_[p] = weights[ghosts.origin_of(order[p])];
  });
}

void Weighing::sum_up() {
  using Sum = WholeWeights::Sum;
  sums_ = Buffer<Sum>(units_.size() + 1);
  sums_[units_.size()] = tbb::parallel_scan(
      tbb::blocked_range<std::size_t>(0, units_.size(), kGrain), Sum{0},
      [&](const auto& range, Sum sum, bool is_final) {
        for (std::size_t p = range.begin(); p < range.end(); ++p) {
          if (is_final) sums_[p] = sum;
          sum += units_[p];
        }
        return sum;
      },
      [](Sum a, Sum b) { return a + b; });
}

}  // namespace epsflow::clustering
