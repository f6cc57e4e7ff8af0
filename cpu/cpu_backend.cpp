#include <epsflow/cpu/cpu_backend.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include <epsflow/clustering/cell_source.hpp>
#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/searched_source.hpp>
#include <epsflow/cpu/table_search.hpp>
#include <epsflow/index/batch_plan.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::cpu {
namespace {

/// Cell by cell where cells are cliques, else point by point.
class CpuDirectClustering final : public DirectClustering {
 public:
  CpuDirectClustering(const index::Grid& grid, const index::RowSearch& rows, const DirectOptions& options,
                      const CancelToken& cancel)
      : grid_(grid),
        rows_(rows),
        minpts_(options.minpts.begin(), options.minpts.end()),
        core_mask_(options.core_mask),
        cancel_(cancel) {}

  void run(const std::function<void(VariantResult&&)>& emit) override {
    // Isolated: a thread that waits here for its own loops must not pick up work of another eps instead.
    tbb::this_task_arena::isolate([&] {
      if (grid_.cliques()) {
        run(clustering::CellSource(grid_, minpts_.front(), minpts_.back(), cancel_), emit);
      } else {
        run(clustering::SearchedSource(grid_, rows_, minpts_.front(), cancel_), emit);
      }
    });
  }

 private:
  template <class Source>
  void run(Source&& source, const std::function<void(VariantResult&&)>& emit) {
    clustering::cluster_nested({source, grid_.eps(), core_mask_}, minpts_, cancel_, emit);
  }

  const index::Grid& grid_;
  const index::RowSearch& rows_;
  std::vector<std::uint32_t> minpts_;
  bool core_mask_;
  const CancelToken& cancel_;
};

class CpuIndex final : public Index {
 public:
  CpuIndex(PointsView points, double eps, Cells cells, const CancelToken& cancel)
      : cancel_(cancel),
        grid_(std::make_shared<const index::Grid>(points, eps, cells, cancel)),
        rows_(std::make_shared<const index::RowSearch>(*grid_)) {}

  [[nodiscard]] IndexFigures figures() const override {
    return {grid_->cells(), grid_->cliques(), grid_->cliques() ? 0 : index::count_candidates(*grid_, cancel_)};
  }
  [[nodiscard]] std::uint64_t bytes() const override { return grid_->bytes() + rows_->bytes(); }
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions& options) const override {
    return make_table_search(grid_, rows_, options, cancel_);
  }
  [[nodiscard]] std::uint64_t direct_bytes() const override {
    using clustering::CellSource;
    if (!grid_->cliques()) return grid_->size() * (clustering::kBytesPerPoint + sizeof(std::uint32_t));
    // Labels and mask per point; parent and number per cell; and what the source holds.
    return grid_->size() * (5 + CellSource::kBytesPerPoint) + grid_->cells() * (8 + CellSource::kBytesPerCell);
  }
  [[nodiscard]] std::unique_ptr<DirectClustering> direct(const DirectOptions& options) const override {
    return std::make_unique<CpuDirectClustering>(*grid_, *rows_, options, cancel_);
  }

 private:
  const CancelToken& cancel_;
  std::shared_ptr<const index::Grid> grid_;
  std::shared_ptr<const index::RowSearch> rows_;
};

class CpuPoints final : public LoadedPoints {
 public:
  explicit CpuPoints(PointsView points) : LoadedPoints(points.size(), points.dims(), points.bytes()), points_(points) {}

  [[nodiscard]] PointsView host() const override { return points_; }
  /// Sort items twice over, or the copy of the coordinates and what the search makes of them; ids, and the cells where every
  /// point has its own.
  [[nodiscard]] std::uint64_t index_bytes() const override {
    constexpr std::uint64_t kIdsAndCells = 4 + 12;
    constexpr std::uint64_t kSortItems = 2 * 16;
    const std::uint64_t row = points_.dims() * bytes_of(points_.precision());
    const std::uint64_t searched = points_.size() * row + index::RowSearch::most_bytes(points_.size(), points_.dims());
    return points_.size() * kIdsAndCells + std::max(points_.size() * kSortItems, searched);
  }
  [[nodiscard]] std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                   const CancelToken& cancel) const override {
    return std::make_unique<CpuIndex>(points_, options.eps, options.cells, cancel);
  }

 private:
  PointsView points_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads) : threads_(threads) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] unsigned lanes() const override { return threads_ + 1; }
  [[nodiscard]] unsigned groups() const override { return 2; }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points) override {
    return std::make_unique<CpuPoints>(points);
  }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(const DevicePointsView&) override {
    throw UsageError(
        "the points are on a GPU and the run is on the CPU: copy them to the host, or use Options::backend = "
        "BackendChoice::gpu");
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned threads) { return std::make_unique<CpuBackend>(threads); }

}  // namespace epsflow::cpu
