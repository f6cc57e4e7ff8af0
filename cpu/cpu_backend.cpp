#include <epsflow/cpu/cpu_backend.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/cell_loops.hpp>
#include <epsflow/clustering/cell_source.hpp>
#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/pair_clustering.hpp>
#include <epsflow/clustering/searched_source.hpp>
#include <epsflow/clustering/source_clustering.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/cpu/stored_core.hpp>
#include <epsflow/cpu/table_search.hpp>
#include <epsflow/index/batch_plan.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/images.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/index/pair_list.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/tile_index.hpp>

namespace epsflow::cpu {
namespace {

/// True if a tree may be taken: with more dimensions than a grid indexes it may leave fewer candidates.
bool tree_possible(IndexChoice choice, std::size_t dims, const Space& space) noexcept {
  return choice == IndexChoice::tree || (choice == IndexChoice::automatic && dims > index::kMostIndexedDims &&
                                         space.plain() && space.slices == nullptr);
}

/// True if a grid prunes hardly anything. If six coordinates separate the points, its cells leave fewer candidates than
/// the tiles of a tree, and are made faster; if they do not, distances to pivots still may. A grid of many cells
/// separates them, and few points are searched before layers are chosen.
bool leaves_all(const index::Grid& grid, const CancelToken& cancel) {
  constexpr std::uint32_t kFewestPoints = 8192;
  constexpr double kMostShare = 0.9;
  const double n = grid.size();
  if (grid.size() < kFewestPoints || grid.cells() > grid.size() / 8) return false;
  return static_cast<double>(index::count_candidates(grid, cancel)) > kMostShare * n * n;
}

/// True if the ranges of cells are cached for all passes of a search: finding them again takes longer than comparing
/// points if there are many neighbouring cells. Up to as many bytes as the coordinates have in float32.
bool caches_ranges(std::size_t dims) noexcept { return dims > index::kMostDenseBoxDims; }
std::uint64_t cached_range_bytes(std::uint64_t n, std::size_t dims) noexcept {
  return caches_ranges(dims) ? n * dims * sizeof(float) : 0;
}

/// Throws UsageError if the space does not permit the index. Functions of a tree require the Euclidean distance: they
/// differ by at most the distance of two points.
void check_index(IndexChoice choice, const Space& space) {
  if (space.slices != nullptr && choice != IndexChoice::automatic && choice != IndexChoice::grid) {
    throw UsageError(kSlicesNeedGrid);
  }
  if (choice != IndexChoice::tree || space.plain()) return;
  throw UsageError(
      "SearchOptions::index asks for a tree, which measures straight lines, and the metric is of another norm or a "
      "periodic "
      "box: leave it out");
}

/// The number of images with which a plain space serves; nothing if images do not serve or exceed the points.
std::optional<std::uint64_t> image_count(PointsView points, const Space& space, const IndexOptions& options) {
  const bool grid = options.index == IndexChoice::automatic || options.index == IndexChoice::grid;
  if (!grid || options.cells != Cells::dense_box) return std::nullopt;
  if (!index::images_serve(space, options.eps, points.dims())) return std::nullopt;
  const std::uint64_t count = index::count_images(points, {space, options.eps, points.dims()});
  if (count > points.size() || points.size() + count > kMaxPoints) return std::nullopt;
  return count;
}

void check_filter(DecideChoice decide) {
  if (decide == DecideChoice::automatic || decide == DecideChoice::scalar) return;
  throw UsageError(
      "SearchOptions::decide asks for tensor cores, which a GPU has, and the run is on the CPU: leave it out, or use "
      "EngineOptions::backend = BackendChoice::gpu where there is one");
}

class CpuIndex final : public Index {
 public:
  CpuIndex(PointsView points, const Space& space, const IndexOptions& options, const CancelToken& cancel)
      : points_(points), space_(space), cancel_(cancel), choice_(options.index) {
    try_images(points, space, options);
    if (grid_ == nullptr && (choice_ == IndexChoice::automatic || choice_ == IndexChoice::grid)) {
      const auto grid = std::make_shared<index::Grid>(points, options.eps, options.cells, cancel, space);
      if (caches_ranges(points.dims())) grid->cache_ranges(cached_range_bytes(points.size(), points.dims()), cancel);
      grid_ = grid;
      const bool tree = tree_possible(options.index, points.dims(), space) && leaves_all(*grid_, cancel);
      choice_ = tree ? IndexChoice::tree : IndexChoice::grid;
      if (tree) grid_ = nullptr;  // frees it first, so that memory for both indexes is not needed at once
    }
    if (grid_ != nullptr) {
      index_ = grid_;
    } else {
      std::optional<index::LayerKind> kind;
      if (choice_ == IndexChoice::tree) kind = index::LayerKind::tree;
      index_ = std::make_shared<const index::TileIndex>(points, options.eps, kind, cancel, space);
    }
    rows_ = std::make_shared<const index::RowSearch>(*index_);
  }

  [[nodiscard]] IndexFigures figures() const override {
    return {.cells = grid_ == nullptr ? 0 : grid_->cells(),
            .dense_boxes = dense_boxes() != nullptr,
            .candidates = dense_boxes() != nullptr ? 0 : index::count_candidates(*index_, cancel_),
            .index = choice_,
            .decide = DecideChoice::scalar};
  }
  [[nodiscard]] std::uint64_t bytes() const override {
    return index_->bytes() + rows_->bytes() + imaged_.points.view().bytes() + imaged_.origins.bytes();
  }
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions& options) const override {
    if (ghosts().count == 0) return make_table_search(index_, rows_, options, cancel_);
    // A table has no rows of ghosts, so it is made from a grid of the points alone, in the periodic box.
    const auto grid = std::make_shared<const index::Grid>(points_, index_->eps(), Cells::eps, cancel_, space_);
    return make_table_search(grid, std::make_shared<const index::RowSearch>(*grid), options, cancel_);
  }
  [[nodiscard]] std::uint64_t direct_bytes(const DirectOptions& options) const override {
    const bool weighted = options.weights != nullptr;
    if (dense_boxes() == nullptr) {
      const std::uint64_t n = index_->size();
      return n * 5 + clustering::SourceClustering::bytes(n, n, 1, options) +
             clustering::SearchedSource::bytes(n, weighted);
    }
    // Labels and mask for each point and level, and the labels once more if levels are labelled together; the sets, and
    // the memory of the source. Each thread has one block of cluster numbers before they become labels.
    const std::size_t levels = std::min(options.minpts.size(), clustering::kLevelsAtOnce);
    const std::size_t together = levels > 1 ? 4 * levels : 0;
    const bool counted = options.keep == Keep::summary;
    return index_->size() * (5 * levels + together + (counted ? sizeof(clustering::BorderPoint) : 0)) +
           grid_->cells() * (counted ? sizeof(clustering::BorderCell) + sizeof(std::uint32_t) : 0) +
           clustering::SourceClustering::bytes(grid_->cells(), index_->size(), levels, options) +
           clustering::CellSource::bytes(*grid_, options.minpts, ghosts().count, weighted) +
           clustering::CellSource::block_rows(*grid_) * 4 * levels;
  }
  [[nodiscard]] std::unique_ptr<Counted> count(const DirectOptions& options) const override {
    return count_part(options);
  }
  /// Clusters cell by cell if the cells are dense boxes, else point by point.
  [[nodiscard]] std::unique_ptr<CountedPart> count_part(const DirectOptions& options) const override {
    const WholeWeights* const weights = whole_of(options.weights);
    const Ghosts all = ghosts_of(options);
    std::unique_ptr<clustering::ClusterSource> source;
    if (dense_boxes() != nullptr) {
      source = std::make_unique<clustering::CellSource>(*dense_boxes(), options.minpts, cancel_, all, weights);
    } else {
      source = std::make_unique<clustering::SearchedSource>(*index_, *rows_, options.minpts, cancel_, all, weights);
    }
    return std::make_unique<clustering::SourceClustering>(std::move(source), options, cancel_);
  }
  [[nodiscard]] std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const override {
    return clustering::make_host_store(ghosts_of(options).labelled, options);
  }

 private:
  /// Tries dense-box cells of the points and their images.
  void try_images(PointsView points, const Space& space, const IndexOptions& options) {
    if (!image_count(points, space, options)) return;
    imaged_ = index::make_images(points, {space, options.eps, points.dims()}, cancel_);
    auto grid = std::make_shared<index::Grid>(imaged_.points.view(), options.eps, Cells::dense_box, cancel_);
    if (grid->dense_boxes()) {
      grid_ = std::move(grid);
      choice_ = IndexChoice::grid;
    } else {
      imaged_ = {};
    }
  }

  /// Images are the last points of the index.
  [[nodiscard]] Ghosts ghosts() const noexcept {
    const auto images = static_cast<std::uint32_t>(imaged_.origins.size());
    return {index_->size() - images, images, imaged_.origins.data()};
  }

  /// The ghosts of a part come from other parts; its space is not periodic.
  [[nodiscard]] Ghosts ghosts_of(const DirectOptions& options) const noexcept {
    if (options.shared == nullptr) return ghosts();
    return {index_->size() - options.shared->outer_ghosts, options.shared->outer_ghosts};
  }

  [[nodiscard]] const index::Grid* dense_boxes() const noexcept {
    return grid_ != nullptr && grid_->dense_boxes() ? grid_.get() : nullptr;
  }

  PointsView points_;
  const Space& space_;
  const CancelToken& cancel_;
  IndexChoice choice_;
  index::ImagedPoints imaged_;  ///< the points of the index if the box is periodic and images serve, else empty
  std::shared_ptr<const index::Grid> grid_;  ///< the index if it is a grid, else null
  std::shared_ptr<const index::SearchIndex> index_;
  std::shared_ptr<const index::RowSearch> rows_;
};

/// The index of small, sparse data sets: a list of their pairs.
class PairIndex final : public Index {
 public:
  PairIndex(index::PairList list, PointsView points, const Space& space, double eps, const CancelToken& cancel)
      : list_(std::move(list)), points_(points), space_(space), eps_(eps), cancel_(cancel) {}

  [[nodiscard]] IndexFigures figures() const override { return {.pairs_stay = true}; }
  [[nodiscard]] std::uint64_t bytes() const override { return list_.bytes(); }
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions& options) const override {
    const auto grid = std::make_shared<const index::Grid>(points_, eps_, Cells::eps, cancel_, space_);
    return make_table_search(grid, std::make_shared<const index::RowSearch>(*grid), options, cancel_);
  }
  [[nodiscard]] std::uint64_t direct_bytes(const DirectOptions& options) const override {
    return points_.size() * 5 * std::min(options.minpts.size(), clustering::kLevelsAtOnce);
  }
  [[nodiscard]] std::unique_ptr<Counted> count(const DirectOptions& options) const override {
    return std::make_unique<clustering::PairClustering>(list_, options, cancel_);
  }
  [[nodiscard]] std::unique_ptr<CountedPart> count_part(const DirectOptions&) const override {
    throw UsageError("a part is not clustered from a list of pairs: leave IndexOptions::pairs out");
  }
  [[nodiscard]] std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const override {
    return clustering::make_host_store(points_.size(), options);
  }

 private:
  index::PairList list_;
  PointsView points_;
  const Space& space_;
  double eps_;
  const CancelToken& cancel_;
};

class CpuPoints final : public LoadedPoints {
 public:
  CpuPoints(PointsView points, const Space& space)
      : LoadedPoints(points.size(), points.dims(), points.bytes(), space), points_(points) {}

  [[nodiscard]] PointsView host() const override { return points_; }
  /// Two arrays of sort items, or the copy of the coordinates and their form for the search; ids, and the cells if
  /// every point has its own. A tree sorts with leaves instead of cells, keeps bounds, and chooses its layers first.
  [[nodiscard]] std::uint64_t index_bytes(const IndexOptions& options) const override {
    constexpr std::uint64_t kIdsAndCells = 4 + 12;
    constexpr std::uint64_t kSortItems = 2 * 16;
    if (const auto images = image_count(points_, space(), options)) {
      const std::uint64_t all = points_.size() + *images;
      const std::uint64_t coordinates = all * dims() * sizeof(double);
      return coordinates + *images * sizeof(std::uint32_t) + all * kIdsAndCells +
             std::max(all * kSortItems, coordinates);
    }
    const std::uint64_t row = points_.dims() * bytes_of(points_.precision());
    const std::uint64_t searched = points_.size() * row + index::RowSearch::most_bytes(points_.size(), points_.dims()) +
                                   cached_range_bytes(points_.size(), points_.dims());
    const std::uint64_t sorted = points_.size() * kIdsAndCells + std::max(points_.size() * kSortItems, searched);
    if (options.index == IndexChoice::all) return points_.size() * kIdsAndCells + searched;
    if (!tree_possible(options.index, dims(), space())) return sorted;
    return std::max(index::layer_choice_bytes(size(), dims()), sorted + index::TileBounds::kMostFixedBytes);
  }
  [[nodiscard]] std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                   const CancelToken& cancel) const override {
    check_filter(options.decide);
    check_index(options.index, space());
    if (options.pairs && options.index == IndexChoice::automatic) {
      if (auto list = index::PairList::find(points_, space(), options.eps, cancel)) {
        return std::make_unique<PairIndex>(std::move(*list), points_, space(), options.eps, cancel);
      }
    }
    return std::make_unique<CpuIndex>(points_, space(), options, cancel);
  }
  void nearest_sums(std::span<const std::uint32_t> ks, double* sums, const CancelToken& cancel) const override {
    index::nearest_sums(points_, space(), ks, sums, cancel);
  }
  [[nodiscard]] std::uint64_t nearest_bytes() const override { return index::nearest_bytes(size(), dims()); }

 private:
  PointsView points_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads) : threads_(threads) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] unsigned lanes() const override { return threads_ + 1; }
  [[nodiscard]] unsigned groups() const override { return 2; }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points, const Space& space) override {
    require_finite(points);
    return std::make_unique<CpuPoints>(points, space);
  }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(const DevicePointsView&, const Space&) override {
    throw UsageError(
        "the points are on a GPU and the run is on the CPU: copy them to the host, or use EngineOptions::backend = "
        "BackendChoice::gpu");
  }
  [[nodiscard]] std::unique_ptr<StoredCore> keep(const CoreInput& core, const CancelToken& cancel) override {
    return store_core(core, cancel);
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned threads) { return std::make_unique<CpuBackend>(threads); }

}  // namespace epsflow::cpu
