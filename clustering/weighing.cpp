#include <epsflow/clustering/weighing.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::size_t kGrain = 1 << 14;

}  // namespace

Weighing::Weighing(const WholeWeights& weights, std::span<const std::uint32_t> minpts,
                   std::span<const std::uint32_t> order, const Ghosts& ghosts)
    : levels_(weights, minpts), units_(order.size()) {
  parallel_ranges(order.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) units_[p] = weights[ghosts.origin_of(order[p])];
  });
}

void Weighing::sum_up() {
  const std::size_t n = units_.size();
  sums_ = Buffer<WeightSum>(n + 1);
  std::vector<WeightSum> before((n + kGrain - 1) / kGrain);  // the sum of each block, later of all blocks before it
  parallel_for(before.size(), [&](std::size_t b) {
    before[b] =
        std::accumulate(units_.begin() + b * kGrain, units_.begin() + std::min(n, (b + 1) * kGrain), WeightSum{0});
  });
  WeightSum all = 0;
  for (WeightSum& sum : before) all += std::exchange(sum, all);
  sums_[n] = all;
  parallel_for(before.size(), [&](std::size_t b) {
    WeightSum sum = before[b];
    for (std::size_t p = b * kGrain; p < std::min(n, (b + 1) * kGrain); ++p) {
      sums_[p] = sum;
      sum += units_[p];
    }
  });
}

}  // namespace epsflow::clustering
