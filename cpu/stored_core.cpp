#include <epsflow/cpu/stored_core.hpp>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/lowest_clusters.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::cpu {
namespace {

constexpr std::size_t kGrain = 1 << 14;

class CoreInGrid final : public StoredCore {
 public:
  CoreInGrid(const CoreInput& core, const CancelToken& cancel)
      : grid_(core.points, core.radius, Cells::eps, cancel), rows_(grid_), cluster_of_(core.points.size()) {
    parallel_ranges(cluster_of_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        cluster_of_[p] = static_cast<std::uint32_t>(core.labels[grid_.order()[p]]);
      }
    });
  }

  [[nodiscard]] bool supports_any_point() const noexcept { return clustering::finds_clusters_at(grid_); }
  [[nodiscard]] std::uint64_t bytes() const override { return grid_.bytes() + rows_.bytes() + cluster_of_.bytes(); }
  [[nodiscard]] std::uint64_t bytes_for(std::uint64_t n) const override {
    return clustering::lowest_clusters_at_bytes(n);
  }
  [[nodiscard]] std::optional<Labels> assign(std::span<const double> points, const CancelToken& cancel) const override {
    static_assert(static_cast<std::int32_t>(clustering::kNoCluster) == kNoise, "clusters are labels as they are");
    Labels labels(points.size() / grid_.dims());
    clustering::find_lowest_clusters_at(grid_, rows_, cluster_of_.data(), points,
                                        reinterpret_cast<std::uint32_t*>(labels.data()), cancel);
    return labels;
  }

 private:
  index::Grid grid_;
  index::RowSearch rows_;
  Buffer<std::uint32_t> cluster_of_;  ///< [m] by position
};

}  // namespace

std::unique_ptr<StoredCore> store_core(const CoreInput& core, const CancelToken& cancel) {
  if (core.points.dims() > index::kMostIndexedDims) return nullptr;
  auto stored = std::make_unique<CoreInGrid>(core, cancel);
  if (!stored->supports_any_point()) return nullptr;
  return stored;
}

}  // namespace epsflow::cpu
