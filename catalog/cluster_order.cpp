#include <epsflow/catalog/cluster_order.hpp>

#include <algorithm>
#include <bit>

#include <epsflow/catalog/catalog_checks.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/radix_sort.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kGrain = 1 << 15;

/// If labels exceed this multiple of the number of points (and kFewClusters), they are renumbered first.
constexpr std::uint64_t kSparse = 4;
constexpr std::uint64_t kFewClusters = 1 << 20;

/// Returns the same order for few, large labels, such as catalogue ids. Replaces each by its rank in its slice first.
ClusterOrder order_sparse(std::span<const std::int32_t> labels, const Slices* slices, const CancelToken& cancel) {
  const std::size_t count = slices == nullptr ? 1 : slices->count();
  std::vector<std::int32_t> ranks(labels.begin(), labels.end());
  std::vector<std::int32_t> names;  // in the order of the entries
  for (std::size_t s = 0; s < count; ++s) {
    const auto first = static_cast<std::ptrdiff_t>(slices == nullptr ? 0 : slices->first(s));
    const auto last =
        slices == nullptr ? static_cast<std::ptrdiff_t>(labels.size()) : static_cast<std::ptrdiff_t>(slices->last(s));
    std::vector<std::int32_t> used(labels.begin() + first, labels.begin() + last);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (!used.empty() && used.front() == kNoise) used.erase(used.begin());
    for (std::ptrdiff_t i = first; i < last; ++i) {
      if (labels[static_cast<std::size_t>(i)] == kNoise) continue;
      ranks[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(
          std::lower_bound(used.begin(), used.end(), labels[static_cast<std::size_t>(i)]) - used.begin());
    }
    names.insert(names.end(), used.begin(), used.end());
  }
  ClusterOrder order = order_by_cluster(ranks, slices, cancel);
  order.labels = std::move(names);
  return order;
}

/// Returns the largest number of clusters that the points [first, last) can have: their highest label plus 1.
std::uint64_t count_clusters(std::span<const std::int32_t> labels, std::size_t first, std::size_t last) {
  return parallel_reduce(
      last - first, kGrain, std::uint64_t{0},
      [&](std::size_t begin, std::size_t end, std::uint64_t count) {
        for (std::size_t i = first + begin; i != first + end; ++i) {
          if (labels[i] < kNoise) throw_bad_label(i, labels[i]);
          count = std::max(count, static_cast<std::uint64_t>(std::int64_t{labels[i]} + 1));
        }
        return count;
      },
      [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}

}  // namespace

ClusterOrder order_by_cluster(std::span<const std::int32_t> labels, const Slices* slices, const CancelToken& cancel) {
  const std::size_t n = labels.size();
  ClusterOrder order;
  const std::size_t count = slices == nullptr ? 1 : slices->count();
  std::vector<std::uint64_t> numbers{0};  // the number of clusters in the slices before each slice
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t first = slices == nullptr ? 0 : slices->first(s);
    const std::size_t last = slices == nullptr ? n : slices->last(s);
    numbers.push_back(numbers.back() + count_clusters(labels, first, last));
  }
  const std::uint64_t clusters = numbers.back();
  if (clusters > kSparse * n + kFewClusters) return order_sparse(labels, slices, cancel);
  // Noise comes after every cluster.
  const unsigned bits = static_cast<unsigned>(std::bit_width(clusters));
  Buffer<std::uint64_t> made(n), spare(n);
  const SlicesView view = slices == nullptr ? SlicesView{} : slices->view();
  parallel_ranges(n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) {
      const std::uint64_t cluster =
          labels[i] == kNoise ? clusters : numbers[view.of(static_cast<std::uint32_t>(i))] + labels[i];
      made[i] = cluster << 32 | i;
    }
  });
  const std::span<const std::uint64_t> sorted = index::radix_sort(
      made.span(), spare.span(), bits, [](std::uint64_t item) { return item >> 32; }, cancel);
  // Only numbers that occur get an entry.
  order.slices.push_back(0);
  std::size_t slice = 0;
  std::size_t at = 0;
  while (at < n && sorted[at] >> 32 != clusters) {
    const std::uint64_t number = sorted[at] >> 32;
    for (; number >= numbers[slice + 1]; ++slice) order.slices.push_back(order.labels.size());
    while (at < n && sorted[at] >> 32 == number) ++at;
    order.labels.push_back(static_cast<std::int32_t>(number - numbers[slice]));
    order.offsets.push_back(at);
  }
  order.slices.resize(count + 1, order.labels.size());
  order.points = Buffer<std::uint32_t>(order.offsets.back());
  parallel_ranges(order.points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) order.points[i] = static_cast<std::uint32_t>(sorted[i]);
  });
  return order;
}

}  // namespace epsflow
