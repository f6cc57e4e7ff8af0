#include <epsflow/pipeline/slices.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

/// Slices that a thread resolves at a time hold about this many points.
constexpr std::size_t kPoints = 1 << 14;

/// Numbers clusters from 0. sizes: scratch memory, all 0 before and after.
LabelSummary resolve(std::span<std::int32_t> labels, std::span<const std::uint8_t> core,
                     std::vector<std::uint32_t>& sizes) {
  LabelSummary summary;
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  std::int32_t highest = kNoise;
  for (const std::int32_t label : labels) {
    if (label == kNoise) continue;
    lowest = std::min(lowest, label);
    highest = std::max(highest, label);
  }
  if (highest == kNoise) {
    summary.noise = labels.size();
    return summary;
  }
  summary.clusters = static_cast<std::uint64_t>(highest - lowest) + 1;
  if (sizes.size() < summary.clusters) sizes.resize(summary.clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    summary.core += core[i];
    if (labels[i] == kNoise) {
      ++summary.noise;
    } else {
      ++sizes[labels[i] -= lowest];
    }
  }
  summary.border = labels.size() - summary.noise - summary.core;
  for (std::size_t c = 0; c < summary.clusters; ++c) {
    summary.largest = std::max<std::uint64_t>(summary.largest, sizes[c]);
    sizes[c] = 0;
  }
  return summary;
}

}  // namespace

void resolve_slices(VariantResult& result, const Slices& slices) {
  result.slices.resize(slices.count());
  const std::size_t grain = 1 + kPoints * slices.count() / std::max<std::size_t>(1, result.labels.size());
  parallel_ranges(slices.count(), grain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> sizes;
    for (std::size_t s = begin; s != end; ++s) {
      const std::size_t first = slices.first(s);
      const std::size_t size = slices.last(s) - first;
      result.slices[s] =
          resolve(result.labels.span().subspan(first, size), std::span(result.core).subspan(first, size), sizes);
    }
  });
}

void count_slices(VariantResult& result, const Slices& slices) {
  result.slices.assign(slices.count(), {});
  const Clusters& clusters = result.clusters;
  std::size_t next = 0;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    LabelSummary& counts = result.slices[s];
    std::uint64_t inside = 0;
    for (; next < clusters.count() && clusters.first_core[next] < slices.last(s); ++next) {
      ++counts.clusters;
      counts.core += clusters.core[next];
      inside += clusters.size[next];
      counts.largest = std::max<std::uint64_t>(counts.largest, clusters.size[next]);
    }
    counts.border = inside - counts.core;
    counts.noise = slices.last(s) - slices.first(s) - inside;
  }
}

}  // namespace epsflow
