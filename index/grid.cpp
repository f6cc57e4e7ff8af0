#include <epsflow/index/grid.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/radix_sort.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kGrain = 1 << 15;
/// Number of cells whose ranges are cached together.
constexpr std::size_t kCachedCells = 1 << 10;

}  // namespace

Grid::Grid(PointsView points, double eps, Cells cells, const CancelToken& cancel, const Space& space)
    : SearchIndex(points, eps, space) {
  sort_points(points, choose_axes(points, eps, cells, cancel, {}, space), cancel);
  cancel.check();
  copy_coordinates(points);
}

void Grid::sort_points(PointsView points, const CellAxes& chosen, const CancelToken& cancel) {
  const std::vector<CellAxis>& axes = chosen.axes;
  const bool cut = std::any_of(axes.begin(), axes.end(), [](const CellAxis& axis) { return axis.cut(); });
  if (!cut && space().plain() && space().slices == nullptr) point_axes_ = axes;
  keys_ = CellKeys(chosen);
  dense_boxes_ = chosen.dense_boxes;
  const unsigned bits = static_cast<unsigned>(std::bit_width(keys_.count - 1));
  points.visit([&](auto values) {
    const SlicesView slices = space().slices == nullptr ? SlicesView{} : space().slices->view();
    const auto key_of = [&](std::size_t i) {
      std::uint64_t key = slices.of(static_cast<std::uint32_t>(i)) * keys_.slice_stride;
      for (std::size_t a = 0; a < axes.size(); ++a) {
        key += (axes[a].slot(values[i * dims() + axes[a].dim()]) + keys_.window) * keys_.strides[a];
      }
      return key;
    };
    const unsigned id_bits = static_cast<unsigned>(std::bit_width(points.size()));
    if (bits + id_bits <= 64) {
      const std::uint64_t ids = (std::uint64_t{1} << id_bits) - 1;
      sort_items<std::uint64_t>(
          points, bits, [&](std::size_t i) { return (key_of(i) << id_bits) | i; },
          [=](std::uint64_t item) { return item >> id_bits; },
          [=](std::uint64_t item) { return static_cast<std::uint32_t>(item & ids); }, cancel);
    } else {  // the key is too wide to share 64 bits with the id
      sort_items<KeyedId>(
          points, bits,
          [&](std::size_t i) {
            return KeyedId{key_of(i), static_cast<std::uint32_t>(i)};
          },
          [](const KeyedId& item) { return item.key; }, [](const KeyedId& item) { return item.id; }, cancel);
    }
  });
}

template <class Item, class Make, class Key, class Id>
void Grid::sort_items(PointsView points, unsigned bits, Make make, Key key, Id id, const CancelToken& cancel) {
  const std::size_t n = points.size();
  Buffer<std::uint32_t> order(n);
  Buffer<Item> made(n), spare(n);
  parallel_ranges(n, kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) made[i] = make(i);
  });
  const std::span<const Item> items = radix_sort(made.span(), spare.span(), bits, key, cancel);
  // Cells: count the starts of each block, then write them.
  const std::size_t blocks = (n + kGrain - 1) / kGrain;
  std::vector<std::size_t> first_cell(blocks + 1);
  const auto starts_cell = [&](std::size_t i) { return i == 0 || key(items[i]) != key(items[i - 1]); };
  parallel_for(blocks, [&](std::size_t b) {
    std::size_t count = 0;
    for (std::size_t i = b * kGrain; i < std::min(n, (b + 1) * kGrain); ++i) {
      order[i] = id(items[i]);
      count += starts_cell(i) ? 1 : 0;
    }
    first_cell[b + 1] = count;
  });
  for (std::size_t b = 0; b < blocks; ++b) first_cell[b + 1] += first_cell[b];
  cell_keys_ = Buffer<std::uint64_t>(first_cell[blocks]);
  Buffer<std::uint32_t> starts(first_cell[blocks] + 1);
  parallel_for(blocks, [&](std::size_t b) {
    std::size_t cell = first_cell[b];
    for (std::size_t i = b * kGrain; i < std::min(n, (b + 1) * kGrain); ++i) {
      if (!starts_cell(i)) continue;
      cell_keys_[cell] = key(items[i]);
      starts[cell] = static_cast<std::uint32_t>(i);
      ++cell;
    }
  });
  starts[first_cell[blocks]] = static_cast<std::uint32_t>(n);
  set_order(std::move(order));
  set_bundle_starts(std::move(starts));
}

void Grid::cache_ranges(std::uint64_t most, const CancelToken& cancel) {
  std::vector<CachedRanges> cached((cells() + kCachedCells - 1) / kCachedCells);
  std::atomic<std::uint64_t> bytes{0};
  parallel_for(cached.size(), [&](std::size_t b) {
    if (cancel.cancelled() || bytes > most) return;
    CachedRanges found;
    BundleWalk walk;
    start_walk(b * kCachedCells, walk);
    for (std::size_t cell = b * kCachedCells; cell < std::min(cells(), (b + 1) * kCachedCells); ++cell) {
      find_ranges(cell, walk);
      found.ranges.insert(found.ranges.end(), walk.ranges.begin(), walk.ranges.end());
      found.ends.push_back(static_cast<std::uint32_t>(found.ranges.size()));
    }
    bytes += found.ranges.size() * sizeof(Range) + found.ends.size() * sizeof(std::uint32_t);
    if (bytes <= most) cached[b] = {{found.ends.begin(), found.ends.end()}, {found.ranges.begin(), found.ranges.end()}};
  });
  cancel.check();
  if (bytes > most) return;
  cached_ = std::move(cached);
  cached_bytes_ = bytes;
}

void Grid::start_walk(std::size_t cell, BundleWalk& walk) const {
  if (!cached_.empty()) return;
  walk.cursors.clear();
  for (const std::int64_t offset : keys_.neighbor_offsets) {
    walk.cursors.push_back(std::lower_bound(cell_keys_.begin(), cell_keys_.end(), cell_keys_[cell] + offset) -
                           cell_keys_.begin());
  }
}

void Grid::add_range(std::size_t first_cell, std::uint64_t last_key, std::vector<Range>& ranges) const {
  const auto keys = cell_keys();
  const auto starts = cell_starts();
  std::size_t end = first_cell;
  while (end < keys.size() && keys[end] <= last_key) ++end;
  if (end == first_cell) return;
  if (!ranges.empty() && ranges.back().end == starts[first_cell]) {
    ranges.back().end = starts[end];
  } else {
    ranges.push_back({starts[first_cell], starts[end]});
  }
}

void Grid::find_ranges(std::size_t cell, BundleWalk& walk) const {
  const auto keys = cell_keys();
  const std::uint64_t last = 2 * std::uint64_t{keys_.window};
  std::vector<Range>& ranges = walk.ranges;
  if (!cached_.empty()) {
    const CachedRanges& cached = cached_[cell / kCachedCells];
    const std::size_t cell_in_block = cell % kCachedCells;
    ranges.assign(cached.ranges.begin() + (cell_in_block == 0 ? 0 : cached.ends[cell_in_block - 1]),
                  cached.ranges.begin() + cached.ends[cell_in_block]);
    return;
  }
  ranges.clear();
  if (keys_.closed.at_end(keys[cell])) {
    keys_.closed.for_each_range(keys[cell], [&](std::uint64_t first_key, std::uint64_t last_key) {
      add_range(std::lower_bound(keys.begin(), keys.end(), first_key) - keys.begin(), last_key, ranges);
    });
    return;
  }
  for (std::size_t p = 0; p < walk.cursors.size(); ++p) {
    const std::uint64_t first_key = keys[cell] + keys_.neighbor_offsets[p];
    std::size_t& cursor = walk.cursors[p];
    while (cursor < keys.size() && keys[cursor] < first_key) ++cursor;
    add_range(cursor, first_key + last, ranges);
  }
}

std::uint64_t Grid::key_at(const double* point) const noexcept {
  std::uint64_t key = 0;
  for (std::size_t a = 0; a < point_axes_->size(); ++a) {
    const CellAxis& axis = (*point_axes_)[a];
    const std::optional<std::uint64_t> slot = axis.nearest_slot(point[axis.dim()], keys_.window);
    if (!slot) return kNowhere;
    key += (*slot + keys_.window) * keys_.strides[a];
  }
  return key;
}

void Grid::find_ranges_at(std::uint64_t key, BundleWalk& walk) const {
  walk.ranges.clear();
  const auto keys = cell_keys();
  walk.cursors.resize(keys_.neighbor_offsets.size());
  for (std::size_t p = 0; p < walk.cursors.size(); ++p) {
    const std::uint64_t first_key = key + static_cast<std::uint64_t>(keys_.neighbor_offsets[p]);
    std::size_t& cursor = walk.cursors[p];
    // Doubles the step, then bisects.
    std::size_t step = 1;
    std::size_t end = cursor;
    while (end < keys.size() && keys[end] < first_key) {
      cursor = end + 1;
      end += step;
      step *= 2;
    }
    cursor =
        std::lower_bound(keys.begin() + cursor, keys.begin() + std::min(end, keys.size()), first_key) - keys.begin();
    add_range(cursor, first_key + 2 * std::uint64_t{keys_.window}, walk.ranges);
  }
}

}  // namespace epsflow::index
