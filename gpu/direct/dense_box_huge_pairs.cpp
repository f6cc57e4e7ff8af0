#include <epsflow/gpu/direct/dense_box_huge_pairs.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Upper bound on the pairs of neighbouring cells of at least kHugeCell points each: half of 124 neighbours each.
std::uint64_t most_huge_pairs(std::uint64_t points) {
  constexpr std::uint64_t kNeighbors = std::uint64_t{kRowCells} * kMostRows - 1;
  return points / tuning::kHugeCell * kNeighbors / 2 + 1;
}

/// Returns the cells of all pairs, each once, ascending.
std::vector<std::uint32_t> cells_of(const std::vector<CellPair>& pairs) {
  std::vector<std::uint32_t> cells;
  for (const CellPair& pair : pairs) cells.insert(cells.end(), {pair.a, pair.b});
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

/// Returns the pairs with indices into `cells` instead of cells.
std::vector<CellPair> indices_of(const std::vector<CellPair>& pairs, const std::vector<std::uint32_t>& cells) {
  const auto index_of = [&](std::uint32_t cell) {
    return static_cast<std::uint32_t>(std::lower_bound(cells.begin(), cells.end(), cell) - cells.begin());
  };
  std::vector<CellPair> indices;
  indices.reserve(pairs.size());
  for (const CellPair& pair : pairs) indices.push_back({index_of(pair.a), index_of(pair.b)});
  return indices;
}

/// Finds the points of each cell: their positions in the grid, and their indices in the order along the curve.
std::vector<HugeCell> find_points(const DenseBoxView& view, const std::vector<std::uint32_t>& cells, Scratch scratch) {
  const auto count = static_cast<std::uint32_t>(cells.size());
  const DeviceBuffer<std::uint32_t> on_device = copy_of(std::span(cells), scratch.memory, scratch.stream);
  const DeviceBuffer<std::uint32_t> spans_on_device(scratch.memory, scratch.stream, 2 * std::uint64_t{count});
  launch_cell_spans(view, on_device.data(), count, spans_on_device.data(), scratch.stream);
  const std::vector<std::uint32_t> spans = read_values(spans_on_device.data(), spans_on_device.size(), scratch.stream);
  std::vector<HugeCell> huge(count);
  std::uint32_t size = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    huge[k].begin = spans[2 * k];
    huge[k].first = size;
    size += spans[2 * k + 1] - spans[2 * k];
    huge[k].end = size;
  }
  return huge;
}

}  // namespace

HugePairs::HugePairs(std::uint32_t points, Scratch scratch)
    : list_(scratch.memory, scratch.stream, most_huge_pairs(points)) {}

void HugePairs::decide(std::uint32_t count, const DenseBoxView& view, const Nodes& nodes, std::uint32_t* parents,
                       Scratch scratch) const {
  const auto [memory, stream] = scratch;
  const std::vector<CellPair> pairs = read_values(list_.data(), count, stream);
  const std::vector<std::uint32_t> cells = cells_of(pairs);
  const std::vector<CellPair> indices = indices_of(pairs, cells);
  const std::vector<HugeCell> huge = find_points(view, cells, scratch);
  const auto cell_count = static_cast<std::uint32_t>(cells.size());
  const std::uint32_t size = huge.back().end;

  const DeviceBuffer<HugeCell> huge_on_device = copy_of(std::span(huge), memory, stream);
  const DeviceBuffer<CellPair> indices_on_device = copy_of(std::span(indices), memory, stream);
  const DeviceBuffer<std::uint64_t> key_memory(memory, stream, 2 * std::uint64_t{size});
  const DeviceBuffer<std::uint32_t> position_memory(memory, stream, 2 * std::uint64_t{size});
  TwoBuffers<std::uint64_t> keys{key_memory.data(), key_memory.data() + size};
  TwoBuffers<std::uint32_t> positions{position_memory.data(), position_memory.data() + size};
  launch_huge_keys(view, huge_on_device.data(), cell_count, size, keys.current, positions.current, stream);
  launch_sort(keys, positions, size, 32 + static_cast<int>(std::bit_width(cell_count)), scratch);
  const DeviceBuffer<ChunkBounds> bounds(memory, stream, (std::uint64_t{size} - 1) / tuning::kChunk + 1);
  launch_chunk_bounds(view, positions.current, size, bounds.data(), stream);
  launch_huge_pairs(view, nodes, parents, huge_on_device.data(), positions.current, bounds.data(), list_.data(),
                    indices_on_device.data(), count, stream);
}

}  // namespace epsflow::gpu
