#include <epsflow/parts/level_totals.hpp>

#include <algorithm>
#include <mutex>

#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

OwnCounts::OwnCounts(const LevelResult& found, std::span<const std::int32_t> labels,
                     std::span<const std::uint32_t> sets)
    : counts(found.summary), sizes(found.clusters.size) {
  for (std::size_t g = 0; g < labels.size(); ++g) {
    if (labels[g] == kNoise) {
      --counts.noise;
      continue;
    }
    --sizes[static_cast<std::size_t>(labels[g])];
    --(sets[g] != UnitedPart::kNoSet ? counts.core : counts.border);
  }
}

void LevelTotals::add(const OwnCounts& owned, const NumberedSets& sets, std::span<std::uint32_t> sizes) {
  std::mutex mutex;
  parallel_ranges(owned.sizes.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
    std::uint64_t largest = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> shared;
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t size = owned.sizes[k];
      if (size == 0) continue;
      if (!sizes.empty()) sizes[sets.global[k]] += size;
      if (sets.shared[k] != 0) {
        shared.emplace_back(sets.global[k], size);
      } else {
        largest = std::max<std::uint64_t>(largest, size);
      }
    }
    const std::scoped_lock lock(mutex);
    largest_ = std::max(largest_, largest);
    shared_.insert(shared_.end(), shared.begin(), shared.end());
  });
  summary_.core += owned.counts.core;
  summary_.border += owned.counts.border;
  summary_.noise += owned.counts.noise;
}

LabelSummary LevelTotals::summary(std::uint32_t clusters) {
  std::sort(shared_.begin(), shared_.end());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    sum = i > 0 && shared_[i].first == shared_[i - 1].first ? sum + shared_[i].second : shared_[i].second;
    largest_ = std::max(largest_, sum);
  }
  summary_.clusters = clusters;
  summary_.largest = largest_;
  return summary_;
}

}  // namespace epsflow::parts
