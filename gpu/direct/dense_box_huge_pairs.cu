#include <algorithm>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_bounds.cuh>
#include <epsflow/gpu/direct/dense_box_huge_pairs.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__global__ void cell_spans_kernel(DenseBoxView view, const std::uint32_t* cells, std::uint32_t count,
                                  std::uint32_t* spans) {
  const std::uint64_t k = direct_thread();
  if (k >= count) return;
  spans[2 * k] = view.starts[cells[k]];
  spans[2 * k + 1] = view.starts[cells[k] + 1];
}

/// Returns the number of a point on the Z-order curve of its cell: its bits alternate between the axes.
template <class T, unsigned D>
__device__ std::uint32_t number_on_curve(const DenseBoxView& view, const Coordinates<T, D>& point) {
  constexpr unsigned kBits = 30 / D;
  const CellReach<D> in_cell(view, point);
  std::uint32_t code = 0;
  for (unsigned k = 0; k < D; ++k) {
    const float scaled = fminf(fmaxf(in_cell.offset[k], 0.0F), 0x1.fffffep-1F) * static_cast<float>(1U << kBits);
    const auto bits = static_cast<std::uint32_t>(scaled);
    for (unsigned b = 0; b < kBits; ++b) code |= ((bits >> b) & 1U) << (b * D + k);
  }
  return code;
}

template <class T, unsigned D>
__global__ void huge_keys_kernel(DenseBoxView view, const HugeCell* cells, std::uint32_t count, std::uint32_t size,
                                 std::uint64_t* keys, std::uint32_t* positions) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  std::uint32_t cell = 0;  // the last cell that begins at or before i
  for (std::uint32_t end = count; end - cell > 1;) {
    const std::uint32_t middle = cell + (end - cell) / 2;
    if (cells[middle].first <= i) {
      cell = middle;
    } else {
      end = middle;
    }
  }
  const std::uint32_t position = cells[cell].begin + (static_cast<std::uint32_t>(i) - cells[cell].first);
  positions[i] = position;
  keys[i] = std::uint64_t{cell} << 32 | number_on_curve(view, load_coordinates<T, D>(view.points, position));
}

template <class T, unsigned D>
__global__ void chunk_bounds_kernel(DenseBoxView view, const std::uint32_t* positions, std::uint32_t size,
                                    ChunkBounds* chunks) {
  const std::uint64_t begin = direct_thread() * tuning::kChunk;
  if (begin >= size) return;
  PointBounds<D> bounds;
  bounds.clear();
  for (std::uint64_t i = begin; i < size && i < begin + tuning::kChunk; ++i) {
    bounds.add(load_coordinates<T, D>(view.points, positions[i]));
  }
  for (unsigned k = 0; k < D; ++k) {
    chunks[begin / tuning::kChunk].lo[k] = bounds.lo[k];
    chunks[begin / tuning::kChunk].hi[k] = bounds.hi[k];
  }
}

template <unsigned D>
__device__ inline PointBounds<D> load_bounds(const ChunkBounds* chunks, std::uint32_t chunk) {
  PointBounds<D> bounds;
  for (unsigned k = 0; k < D; ++k) {
    bounds.lo[k] = chunks[chunk].lo[k];
    bounds.hi[k] = chunks[chunk].hi[k];
  }
  return bounds;
}

/// blockIdx.y: a pair. Its blocks divide the chunks of the first cell. Bounds may include points of the next cell,
/// which makes them wider than necessary, but never narrower.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    huge_pairs_kernel(DenseBoxView view, Nodes nodes, std::uint32_t* parents, const HugeCell* cells,
                      const std::uint32_t* positions, const ChunkBounds* chunks, const CellPair* pairs,
                      const CellPair* indices) {
  constexpr unsigned kThreadsOfPair = tuning::kPairThreads;
  constexpr std::uint32_t kChunk = tuning::kChunk;
  __shared__ std::uint32_t listed[kThreadsOfPair];
  __shared__ unsigned listed_size;
  const DisjointSets sets(parents);
  const CellPair pair = pairs[blockIdx.y];
  const HugeCell a = cells[indices[blockIdx.y].a];
  const HugeCell b = cells[indices[blockIdx.y].b];
  const Members of_a(nodes, pair.a);
  const Members of_b(nodes, pair.b);
  const std::uint32_t last_b = (b.end - 1) / kChunk;
  for (std::uint32_t chunk = a.first / kChunk + blockIdx.x; chunk <= (a.end - 1) / kChunk; chunk += gridDim.x) {
    if (in_one_set(sets, pair.a, pair.b)) return;
    const PointBounds<D> bounds = load_bounds<D>(chunks, chunk);
    for (std::uint32_t first = b.first / kChunk; first <= last_b; first += kThreadsOfPair) {
      if (threadIdx.x == 0) listed_size = 0;
      __syncthreads();
      const std::uint32_t other = first + threadIdx.x;
      if (other <= last_b && may_be_near(bounds, load_bounds<D>(chunks, other), view.eps_squared)) {
        listed[atomicAdd(&listed_size, 1U)] = other;
      }
      __syncthreads();
      const unsigned size = listed_size;
      bool hit = false;
      // A thread has one point of the first chunk, and every (kThreadsOfPair / kChunk)-th point of each listed chunk.
      const std::uint32_t i = chunk * kChunk + threadIdx.x % kChunk;
      if (i >= a.first && i < a.end && of_a.is_core(nodes, positions[i])) {
        const Coordinates<T, D> p = load_coordinates<T, D>(view.points, positions[i]);
        for (unsigned l = 0; l < size && !hit; ++l) {
          const std::uint32_t begin = max(listed[l] * kChunk, b.first);
          const std::uint32_t end = min(listed[l] * kChunk + kChunk, b.end);
          for (std::uint32_t q = begin + threadIdx.x / kChunk; q < end; q += kThreadsOfPair / kChunk) {
            const std::uint32_t position = positions[q];
            hit |= of_b.is_core(nodes, position) &&
                   near_enough(p, load_coordinates<T, D>(view.points, position), view.eps_squared);
          }
        }
      }
      if (__syncthreads_or(hit ? 1 : 0) != 0) {
        if (threadIdx.x == 0) sets.unite(pair.a, pair.b);
        return;
      }
    }
  }
}

}  // namespace

void launch_cell_spans(const DenseBoxView& view, const std::uint32_t* cells, std::uint32_t count, std::uint32_t* spans,
                       cudaStream_t stream) {
  cell_spans_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(view, cells, count, spans);
  check_launch(stream);
}

void launch_huge_keys(const DenseBoxView& view, const HugeCell* cells, std::uint32_t count, std::uint32_t size,
                      std::uint64_t* keys, std::uint32_t* positions, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    huge_keys_kernel<T, D>
        <<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(view, cells, count, size, keys, positions);
  });
  check_launch(stream);
}

void launch_chunk_bounds(const DenseBoxView& view, const std::uint32_t* positions, std::uint32_t size,
                         ChunkBounds* chunks, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    chunk_bounds_kernel<T, D>
        <<<direct_blocks((std::uint64_t{size} - 1) / tuning::kChunk + 1), tuning::kDirectThreads, 0, stream>>>(
            view, positions, size, chunks);
  });
  check_launch(stream);
}

void launch_huge_pairs(const DenseBoxView& view, const Nodes& nodes, std::uint32_t* parents, const HugeCell* cells,
                       const std::uint32_t* positions, const ChunkBounds* chunks, const CellPair* pairs,
                       const CellPair* indices, std::uint32_t count, cudaStream_t stream) {
  constexpr std::uint32_t kMostAtOnce = 32768;  // a grid has fewer than 2^16 blocks along y
  for (std::uint32_t first = 0; first < count; first += kMostAtOnce) {
    const dim3 blocks(tuning::kHugeBlocks, std::min(kMostAtOnce, count - first));
    with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
      huge_pairs_kernel<T, D><<<blocks, tuning::kPairThreads, 0, stream>>>(view, nodes, parents, cells, positions,
                                                                           chunks, pairs + first, indices + first);
    });
    check_launch(stream);
  }
}

}  // namespace epsflow::gpu
