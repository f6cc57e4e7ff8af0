#include <epsflow/parts/row_clusters.hpp>

#include <algorithm>
#include <utility>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/core_counter.hpp>

namespace epsflow::parts {

RowClusters::RowClusters(std::size_t rows, std::uint32_t least) : least_(least), core_since_(rows) {
  std::fill_n(core_since_.data(), rows, Clusters::kNeverCore);
}

Clusters RowClusters::take(const VariantResult& result, std::vector<std::uint32_t> first_core,
                           std::vector<std::uint32_t> size) {
  require_countable(all_before_ + first_core.size());
  Clusters clusters;
  clusters.core.resize(first_core.size());
  parallel_ranges(core_since_.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
    CoreCounter counter(clusters.core);
    for (std::size_t i = begin; i < end; ++i) {
      if (result.core[i] == 0) continue;
      const std::int32_t cluster = result.labels[i];
      counter.add(static_cast<std::uint32_t>(cluster), static_cast<std::uint32_t>(i));
      if (core_since_[i] == Clusters::kNeverCore) core_since_[i] = static_cast<std::int32_t>(all_before_) + cluster;
    }
  });
  clusters.joined.reserve(first_.size());
  for (const std::uint32_t row : first_) clusters.joined.push_back(static_cast<std::uint32_t>(result.labels[row]));
  all_before_ += first_core.size();
  first_ = first_core;
  clusters.first_core = std::move(first_core);
  clusters.size = std::move(size);
  if (result.variant.minpts == least_) clusters.core_since = std::move(core_since_);
  return clusters;
}

}  // namespace epsflow::parts
