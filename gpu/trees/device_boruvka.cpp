#include <epsflow/gpu/trees/device_boruvka.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/nearest/device_leaves.hpp>
#include <epsflow/gpu/nearest/near_frame.hpp>
#include <epsflow/gpu/tiles/rounded_row_search.hpp>
#include <epsflow/gpu/trees/boruvka_kernels.hpp>

namespace epsflow::gpu {
namespace {

/// Returns how many points lists should name, at least `most` if there are as many. The more, the fewer points search.
std::uint32_t list_length(std::uint32_t n, std::uint32_t most) {
  const std::uint32_t good = most <= 6 ? 8 : (most + 15) / 16 * 16;  // as many as one search finds, or half
  return std::min(n - 1, good);
}

/// How points are ordered and searched.
using Searches = std::variant<DeviceLeaves, RoundedRowSearch<float>, RoundedRowSearch<double>>;

bool by_leaves(const Searches& searches) { return std::holds_alternative<DeviceLeaves>(searches); }

/// The rounds after the first one.
class Rounds {
 public:
  Rounds(const BoruvkaView& view, const Searches& searches, const GpuResources& gpu, cudaStream_t stream)
      : view_(view),
        searches_(searches),
        gpu_(gpu),
        stream_(stream),
        roots_(gpu.memory, stream, view.leaves.size),
        other_roots_(gpu.memory, stream, view.leaves.size),
        open_(gpu.memory, stream, view.leaves.size),
        other_open_(gpu.memory, stream, view.leaves.size),
        open_heights_(gpu.memory, stream, view.leaves.size),
        open_ends_(gpu.memory, stream, view.leaves.size),
        searching_(gpu.memory, stream, by_leaves(searches) ? (view.leaves.size + 31ULL) / 32 : view.leaves.size),
        counts_(gpu.memory, stream, kCounts) {}

  void run() {
    std::uint32_t open = view_.leaves.size;
    const std::uint32_t* open_points = nullptr;
    launch_list_roots(view_, nullptr, view_.leaves.size, {roots_.data(), count(kRoots)}, stream_);
    for (std::uint32_t roots = flatten(); roots > 1;) {
      gpu_.cancel.check();
      launch_start_round(view_, roots_.data(), roots, stream_);
      OfferedPairs listed{other_open_.data(), open_heights_.data(), open_ends_.data()};
      launch_offer_listed(view_, open_points, open, listed, count(kOpen), stream_);
      const PositionList searching{searching_.data(), count(kSearching)};
      if (by_leaves(searches_)) {
        launch_list_searching(view_, searching, stream_);
      } else {
        launch_list_searching_points(view_, searching, stream_);
      }
      const std::vector<std::uint32_t> counts = read_counts();
      listed.count = open = counts[kOpen];
      std::swap(open_, other_open_);
      open_points = open_.data();

      const std::uint64_t most = std::uint64_t{by_leaves(searches_) ? 32U : 1U} * counts[kSearching];
      const DeviceBuffer<std::uint32_t> points(gpu_.memory, stream_, by_leaves(searches_) ? most : 0);
      const DeviceBuffer<std::uint32_t> ends(gpu_.memory, stream_, most);
      const DeviceBuffer<SumBits> heights(gpu_.memory, stream_, most);
      OfferedPairs searched{points.data(), heights.data(), ends.data(), most};
      if (by_leaves(searches_)) {
        launch_search_outside(view_, searching_.data(), searched, stream_);
      } else {
        searched.points = searching_.data();
        search_rows(searched);
      }
      launch_name_pairs(view_, listed, stream_);
      launch_name_pairs(view_, searched, stream_);
      launch_unite(view_, roots_.data(), roots, stream_);
      launch_list_roots(view_, roots_.data(), roots, {other_roots_.data(), count(kRoots)}, stream_);
      std::swap(roots_, other_roots_);
      const std::uint32_t before = std::exchange(roots, flatten());
      // Every component but one names a pair.
      if (roots > before / 2 + 1 || roots == before) throw DeviceError("components found no pairs: this is a bug");
    }
  }

 private:
  enum BoruvkaCount : std::uint8_t { kRoots, kOpen, kSearching, kLeft, kLost, kCounts };

  /// Searches the lowest pairs of the points with other components. The columns come in parts: the first are few, and
  /// lower the limits for the others.
  template <class Real>
  void search_rows(const RoundedRowSearch<Real>& search, const OfferedPairs& pairs) const {
    constexpr std::uint32_t kCapacity = 256;
    constexpr std::uint32_t kFirstPart = 64, kGrowth = 4;
    const auto rows = static_cast<std::uint32_t>(pairs.count);
    launch_sort_positions(pairs.points, rows, {gpu_.memory, stream_});
    launch_fill_heights(pairs, stream_);
    launch_search_at_random(view_, search.points(), pairs, stream_);
    const RoundedRows<Real> set = search.rows(pairs.points, rows);
    const DeviceBuffer<double> limits(gpu_.memory, stream_, rows);
    const DeviceBuffer<std::uint32_t> found(gpu_.memory, stream_, rows);
    const DeviceBuffer<std::uint32_t> candidates(gpu_.memory, stream_, std::uint64_t{rows} * kCapacity);
    check(cudaMemsetAsync(found.data(), 0, found.bytes(), stream_));
    const CandidateSlots<Real> slots{{found.data(), candidates.data(), kCapacity}, nullptr};
    const SearchingRows searching{pairs.points, rows, limits.data()};
    const ColumnChoice choice{pairs.points, view_.parents, view_.core, limits.data()};
    const std::uint32_t most = search.most_columns(set);
    std::uint32_t columns = std::clamp(search.column_tiles() / kFirstPart, 1U, most);
    for (std::uint32_t first = 0; first < search.column_tiles();) {
      gpu_.cancel.check();
      columns = std::min(columns, search.column_tiles() - first);
      launch_limit_rows(view_, searching, stream_);
      search.compare(set, limits.data(), true, {first, first + columns}, choice, slots);
      launch_offer_candidates(view_, search.points(), slots, pairs, count(kLost), stream_);
      if (read_counts()[kLost] > 0 && columns > 1) {
        columns = (columns + kGrowth - 1) / kGrowth;  // a single tile never has more columns than kCapacity
        continue;
      }
      first += columns;
      columns = std::min(most, columns * kGrowth);
    }
    launch_offer_to_ends(view_, pairs, stream_);
    launch_reach_rows(view_, searching, stream_);
  }

  void search_rows(const OfferedPairs& pairs) const {
    if (pairs.count == 0) return;
    if (const auto* half = std::get_if<RoundedRowSearch<float>>(&searches_)) return search_rows(*half, pairs);
    search_rows(std::get<RoundedRowSearch<double>>(searches_), pairs);
  }

  [[nodiscard]] std::uint32_t* count(BoruvkaCount which) const { return counts_.data() + which; }
  [[nodiscard]] std::vector<std::uint32_t> read_counts() const { return read_values(counts_.data(), kCounts, stream_); }
  /// Makes each parent the root. Returns the number of listed roots.
  [[nodiscard]] std::uint32_t flatten() const {
    std::vector<std::uint32_t> counts;
    do {
      gpu_.cancel.check();
      launch_flatten(view_, count(kLeft), stream_);
      counts = read_counts();
    } while (counts[kLeft] > 0);
    return counts[kRoots];
  }

  const BoruvkaView& view_;
  const Searches& searches_;
  const GpuResources& gpu_;
  cudaStream_t stream_;
  DeviceBuffer<std::uint32_t> roots_, other_roots_;
  DeviceBuffer<std::uint32_t> open_, other_open_;  ///< points whose lists lead to other components
  DeviceBuffer<SumBits> open_heights_;
  DeviceBuffer<std::uint32_t> open_ends_;
  DeviceBuffer<std::uint32_t> searching_;  ///< groups of leaves with points that search, or the points
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace

/// The arrays of a BoruvkaView.
struct DeviceBoruvka::Memory {
  Memory(Searches made, std::uint32_t list_length, DeviceMemory& memory, cudaStream_t stream)
      : searches(std::move(made)),
        leaves(std::visit([](const auto& search) { return view_of(search); }, searches)),
        lists_(memory, stream, std::uint64_t{leaves.size} * list_length),
        core_(memory, stream, leaves.size),
        reach_(memory, stream, leaves.size),
        parents_(memory, stream, leaves.size),
        heights_(memory, stream, leaves.size),
        pairs_(memory, stream, leaves.size),
        edge_heights_(memory, stream, leaves.size),
        edges_(memory, stream, leaves.size),
        largest_(memory, stream, 1) {
    if (!by_leaves(searches)) sums_ = {memory, stream, std::uint64_t{leaves.size} * list_length};
    std::uint64_t boxes = 0;
    for (unsigned level = 0; level < leaves.levels; ++level) boxes += leaves.counts[level];
    box_components_ = DeviceBuffer<std::uint32_t>(memory, stream, boxes);
    box_cores_ = DeviceBuffer<double>(memory, stream, boxes);
  }

  [[nodiscard]] BoruvkaView view() const {
    BoruvkaView view{.leaves = leaves,
                     .lists = lists_.data(),
                     .sums = sums_.data(),
                     .core = core_.data(),
                     .reach = reach_.data(),
                     .parents = parents_.data(),
                     .heights = heights_.data(),
                     .pairs = pairs_.data(),
                     .edge_heights = edge_heights_.data(),
                     .edges = edges_.data(),
                     .largest = largest_.data()};
    std::uint64_t first = 0;
    for (unsigned level = 0; level < leaves.levels; ++level) {
      view.box_components[level] = box_components_.data() + first;
      view.box_cores[level] = box_cores_.data() + first;
      first += leaves.counts[level];
    }
    return view;
  }

  [[nodiscard]] std::uint32_t* lists() const noexcept { return lists_.data(); }
  [[nodiscard]] double* sums() const noexcept { return sums_.data(); }

  Searches searches;
  LeafView leaves;

 private:
  static LeafView view_of(const DeviceLeaves& leaves) { return leaves.view(); }
  /// Returns positions without leaves.
  template <class Real>
  static LeafView view_of(const RoundedRowSearch<Real>& search) {
    LeafView view;
    view.order = search.points().order;
    view.size = search.points().size;
    view.precision = search.points().precision;
    return view;
  }

  DeviceBuffer<std::uint32_t> lists_;
  DeviceBuffer<double> sums_;  ///< of the lists, with rows
  DeviceBuffer<double> core_, reach_;
  DeviceBuffer<std::uint32_t> parents_;
  DeviceBuffer<SumBits> heights_;
  DeviceBuffer<PositionPair> pairs_;
  DeviceBuffer<SumBits> edge_heights_;
  DeviceBuffer<PositionPair> edges_;
  DeviceBuffer<std::uint32_t> largest_, box_components_;
  DeviceBuffer<double> box_cores_;
};

template <class Real>
std::optional<DeviceBoruvka> DeviceBoruvka::by_rows(const DevicePoints& points, std::uint32_t length, bool portable,
                                                    const GpuResources& gpu, const Stream& stream) {
  auto search = RoundedRowSearch<Real>::of(points, length, portable, gpu, stream);
  if (!search) return std::nullopt;
  DeviceBoruvka made(std::make_unique<Memory>(std::move(*search), length, gpu.memory, stream.get()), length, gpu,
                     stream);
  Memory& memory = *made.memory_;
  if (!std::get<RoundedRowSearch<Real>>(memory.searches).nearest_lists(memory.lists(), memory.sums())) {
    return std::nullopt;
  }
  return made;
}

std::optional<DeviceBoruvka> DeviceBoruvka::of(const DevicePoints& points, std::uint32_t most_minpts,
                                               const GpuResources& gpu, const Stream& stream, bool portable) {
  if (most_minpts - 1 > tuning::kMostListed) return std::nullopt;
  const std::uint32_t length = list_length(points.device().size, most_minpts - 1);
  if (points.device().dims > kMostNearestDims) {
    if (auto made = by_rows<float>(points, length, portable, gpu, stream)) return made;
    return by_rows<double>(points, length, portable, gpu, stream);
  }
  if (!can_order(points)) return std::nullopt;
  auto leaves = DeviceLeaves::of(points, gpu.memory, stream);
  if (!leaves) return std::nullopt;
  DeviceBoruvka made(std::make_unique<Memory>(std::move(*leaves), length, gpu.memory, stream.get()), length, gpu,
                     stream);
  if (length > 0) launch_nearest_lists(made.view_.leaves, length, made.memory_->lists(), stream.get());
  return made;
}

DeviceBoruvka::DeviceBoruvka(std::unique_ptr<Memory> memory, std::uint32_t length, const GpuResources& gpu,
                             const Stream& stream)
    : gpu_(gpu), stream_(stream.get()), length_(length), memory_(std::move(memory)), view_(memory_->view()) {}
DeviceBoruvka::DeviceBoruvka(DeviceBoruvka&&) noexcept = default;
DeviceBoruvka::~DeviceBoruvka() = default;

void DeviceBoruvka::run(std::uint32_t minpts) {
  view_.k = minpts - 1;
  view_.length = std::min(length_, list_length(view_.leaves.size, view_.k));
  launch_start_trees(view_, stream_);
  launch_descend(view_, stream_);
  Rounds(view_, memory_->searches, gpu_, stream_).run();
}

DeviceTree DeviceBoruvka::sorted() const {
  const std::uint64_t size = view_.leaves.size;
  DeviceTree tree{DeviceBuffer<Edge>(gpu_.memory, stream_, size - 1), DeviceBuffer<double>(gpu_.memory, stream_, size)};
  launch_sort_edges(view_, tree.edges.data(), {gpu_.memory, stream_});
  launch_core_by_id(view_, tree.core.data(), stream_);
  return tree;
}

}  // namespace epsflow::gpu
