#include <epsflow/gpu/direct/dense_box_grid.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Makes the rows around a cell, nearest first. Each marks its cells with smaller keys than the cell.
std::uint32_t make_rows(const index::CellKeys& keys, DenseBoxRow* rows) {
  const std::size_t others = keys.strides.size() - 1;
  std::vector<DenseBoxRow> made{{-kDenseBoxWindow, {0, 0}, 0, 0}};
  for (std::size_t axis = 0; axis < others; ++axis) {
    std::vector<DenseBoxRow> more;
    for (const DenseBoxRow& row : made) {
      for (int step = -kDenseBoxWindow; step <= kDenseBoxWindow; ++step) {
        DenseBoxRow moved = row;
        moved.offset += step * static_cast<std::int64_t>(keys.strides[axis]);
        moved.steps[axis] = static_cast<std::int8_t>(step);
        more.push_back(moved);
      }
    }
    made = std::move(more);
  }
  for (DenseBoxRow& row : made) {
    constexpr unsigned kAll = (1U << kRowCells) - 1;
    const bool own = row.steps[0] == 0 && row.steps[1] == 0;
    const bool lower = row.steps[0] < 0 || (row.steps[0] == 0 && row.steps[1] < 0);
    const bool adjacent = std::abs(row.steps[0]) <= 1 && std::abs(row.steps[1]) <= 1;
    const unsigned before = own ? 0b00011U : lower ? kAll : 0U;
    const unsigned near = adjacent ? 0b01110U : 0U;
    row.lower_near = static_cast<std::uint8_t>(before & near);
    row.lower_far = static_cast<std::uint8_t>(before & ~near);
  }
  const auto distance = [](const DenseBoxRow& row) {
    return row.steps[0] * row.steps[0] + row.steps[1] * row.steps[1];
  };
  std::stable_sort(made.begin(), made.end(),
                   [&](const DenseBoxRow& a, const DenseBoxRow& b) { return distance(a) < distance(b); });
  std::copy(made.begin(), made.end(), rows);
  return static_cast<std::uint32_t>(made.size());
}

}  // namespace

DenseBoxGrid::DenseBoxGrid(const DevicePoints& points, double eps, const index::CellAxes& axes, DeviceMemory& memory,
                           PinnedPool& pinned, const CancelToken& cancel, PhaseMarks* marks, LookupLimits limits)
    : memory_(memory), cell_count_(pinned.acquire(sizeof(RankWord))) {
  const PointsOnDevice device = points.device();
  view_.size = device.size;
  view_.ghosts = points.ghosts();
  view_.dims = device.dims;
  view_.precision = device.precision;
  view_.eps_squared = eps * eps;
  const index::CellKeys keys(axes);
  view_.slices = points.slices();
  view_.slice_stride = keys.slice_stride;
  KeyMaker maker(keys, points.slices());
  for (std::size_t a = 0; a < axes.axes.size(); ++a) {
    maker.axes[a] = axes.axes[a].view();
    const DeviceBuffer<index::AxisStretch>& stretches =
        stretches_.emplace_back(memory, stream_.get(), maker.axes[a].stretch_count);
    if (stretches.size() > 0) {
      check(cudaMemcpyAsync(stretches.data(), maker.axes[a].stretches, stretches.bytes(), cudaMemcpyHostToDevice,
                            stream_.get()));
    }
    maker.axes[a].stretches = stretches.data();
    maker.strides[a] = keys.strides[a];
    view_.axes[a] = maker.axes[a];
    view_.strides[a] = keys.strides[a];
  }
  view_.row_count = make_rows(keys, view_.rows);
  cancel.check();
  if (keys.count <= std::numeric_limits<std::uint32_t>::max()) {
    sort_points<std::uint32_t>(device, maker, keys.count, limits, marks);
  } else {
    sort_points<std::uint64_t>(device, maker, keys.count, limits, marks);
  }
  cancel.check();
}

template <class Key>
void DenseBoxGrid::sort_points(const PointsOnDevice& points, const KeyMaker& maker, std::uint64_t key_count,
                               LookupLimits limits, PhaseMarks* marks) {
  const std::uint32_t n = points.size;
  const cudaStream_t stream = stream_.get();
  const Scratch scratch{memory_, stream};
  const std::uint64_t word_count = rank_words(key_count);
  const bool mapped = limits.keys_per_point > 0 && key_count / n <= limits.keys_per_point;

  DeviceBuffer<std::uint32_t> ids[2];
  for (auto& buffer : ids) buffer = {memory_, stream, n};
  DeviceBuffer<Key> sorted[2];
  for (auto& buffer : sorted) buffer = {memory_, stream, n};
  TwoBuffers<Key> keys{sorted[0].data(), sorted[1].data()};
  TwoBuffers<std::uint32_t> values{ids[0].data(), ids[1].data()};
  launch_keys(points, maker, keys.current, values.current, stream);
  end_phase(marks, "keys", stream_);
  launch_sort(keys, values, n, static_cast<int>(std::bit_width(key_count - 1)), scratch);
  end_phase(marks, "sort", stream_);
  // The second halves of the sort's buffers are reused for the cells, or freed.
  const bool swapped = values.current != ids[0].data();
  sorted[keys.current == sorted[0].data() ? 1 : 0] = {};
  order_ = std::move(ids[swapped ? 1 : 0]);
  cell_of_ = std::move(ids[swapped ? 0 : 1]);
  points_ = {memory_, stream, std::uint64_t{n} * points.dims * bytes_of(points.precision)};
  if (mapped) {
    words_ = {memory_, stream, word_count};
    check(cudaMemsetAsync(words_.data(), 0, words_.bytes(), stream));
  }
  launch_gather_dense_boxes(points, order_.data(), keys.current, points_.data(), words_.data(), stream);
  end_phase(marks, "gather", stream_);

  auto* const count = cell_count_.as<std::uint32_t>();
  if (mapped) {
    launch_rank(words_.data(), word_count, scratch);
  } else {
    launch_cell_numbers(keys.current, n, cell_of_.data(), scratch);
  }
  const std::uint32_t* const last = mapped ? &words_.data()[word_count - 1].rank : cell_of_.data() + (n - 1);
  check(cudaMemcpyAsync(count, last, sizeof(*count), cudaMemcpyDeviceToHost, stream));
  counted_.record(stream_);
  if (n > tuning::kCountedNodes) finish();
  const std::uint64_t cells = view_.cells > 0 ? view_.cells : std::min<std::uint64_t>(n, key_count);
  starts_ = {memory_, stream, cells + 1};
  const KeyHalves cell_keys = make_cell_keys<Key>(key_count, cells);
  if (mapped) {
    launch_dense_box_cells(keys.current, words_.data(), n, cell_of_.data(), starts_.data(), cell_keys, stream);
  } else {
    launch_dense_box_starts(keys.current, cell_of_.data(), n, starts_.data(), cell_keys, stream);
    make_blocks(keys.current, key_count, limits);
    if (block_starts_.size() == 0) finish();  // a search among all cells needs their number
  }
  end_phase(marks, "cells", stream_);
  view_.points = points_.data();
  view_.order = order_.data();
  view_.cell_of = cell_of_.data();
  view_.starts = starts_.data();
  view_.low_keys = low_keys_.data();
  view_.high_keys = high_keys_.data();
  view_.first_high = first_high_.data();
  view_.words = words_.data();
  view_.block_starts = block_starts_.data();
}

/// Allocates the keys of `cells` cells.
template <class Key>
KeyHalves DenseBoxGrid::make_cell_keys(std::uint64_t key_count, std::uint64_t cells) {
  const cudaStream_t stream = stream_.get();
  low_keys_ = {memory_, stream, cells};
  if constexpr (sizeof(Key) > sizeof(std::uint32_t)) {
    if ((key_count - 1) >> 32 <= 1) {
      first_high_ = {memory_, stream, 1};
      check(cudaMemsetAsync(first_high_.data(), 0xFF, first_high_.bytes(), stream));  // all ones: no such cell
    } else {
      high_keys_ = {memory_, stream, cells};
    }
  }
  return {low_keys_.data(), high_keys_.data(), first_high_.data()};
}

/// Makes the smallest blocks of keys within the limits, if a search of 32-bit keys suffices within two blocks.
template <class Key>
void DenseBoxGrid::make_blocks(const Key* keys, std::uint64_t key_count, LookupLimits limits) {
  constexpr unsigned kMostBits = 30;
  const std::uint64_t capacity = memory_.available() / tuning::kKeyBlockShare / sizeof(std::uint32_t);
  const std::uint64_t most_blocks = std::min(limits.blocks_per_point * view_.size, capacity);
  if (most_blocks == 0) return;
  const auto bits = static_cast<unsigned>(std::bit_width((key_count - 1) / most_blocks));
  if (bits > kMostBits) return;
  const std::uint64_t blocks = ((key_count - 1) >> bits) + 1;
  view_.block_bits = bits;
  block_starts_ = {memory_, stream_.get(), blocks + 1};
  launch_key_blocks(keys, cell_of_.data(), view_.size, bits, block_starts_.data(), blocks, {memory_, stream_.get()});
}

void DenseBoxGrid::finish() {
  if (view_.cells > 0) return;
  counted_.synchronize();
  // The count is the rank at the end of the bitmap, or the index of the last cell.
  view_.cells = *cell_count_.as<std::uint32_t>() + (words_.size() > 0 ? 0 : 1);
}

}  // namespace epsflow::gpu
