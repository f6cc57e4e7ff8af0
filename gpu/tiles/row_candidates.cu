#include <algorithm>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/hopper_products.cuh>
#include <epsflow/gpu/tiles/row_candidates.hpp>

namespace epsflow::gpu {
namespace {

/// Goes through the tiles of a RowWork, as TileWalk does. Walker b of B takes every B-th set of columns of a pair of
/// row tiles.
class RowWalk {
 public:
  __device__ RowWalk(const RowWork& work, std::uint32_t first, std::uint32_t step)
      : work_(work), at_(first), step_(step) {
    find();
  }

  __device__ bool done() const { return left_ == 0; }
  __device__ std::uint32_t row_tile(unsigned row) const { return row_tile_ + row; }
  __device__ std::uint32_t column_tile() const { return column_; }
  __device__ bool wanted(unsigned row) const { return row_tile_ + row < work_.row_tiles; }
  __device__ void next() {
    ++column_;
    if (--left_ != 0) return;
    at_ += step_;
    find();
  }

 private:
  __device__ void find() {
    const std::uint64_t sets = work_.column_sets();
    const std::uint64_t lanes = (work_.row_pairs() + RowWork::kAbreast - 1) / RowWork::kAbreast;
    for (; at_ < lanes * sets * RowWork::kAbreast; at_ += step_) {
      const std::uint64_t row_pair = at_ / (sets * RowWork::kAbreast) * RowWork::kAbreast + at_ % RowWork::kAbreast;
      if (row_pair >= work_.row_pairs()) continue;
      const auto first = static_cast<std::uint32_t>(at_ / RowWork::kAbreast % sets) * work_.columns_at_once;
      // Shuffles tell the compiler that all lanes agree (TileWalk).
      row_tile_ = __shfl_sync(tuning::kWholeWarp, static_cast<std::uint32_t>(2 * row_pair), 0);
      column_ = __shfl_sync(tuning::kWholeWarp, work_.first_column + first, 0);
      left_ = __shfl_sync(tuning::kWholeWarp, min(work_.columns_at_once, work_.columns - first), 0);
      return;
    }
  }

  RowWork work_;
  std::uint64_t at_;
  std::uint32_t step_;
  std::uint32_t row_tile_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t left_ = 0;  ///< columns of the set
};

/// Writes candidates to the slots of their rows.
class CandidateJudge {
 public:
  __device__ CandidateJudge(const ProductTiles<float>& rows, const ColumnChoice& choice, const CandidateSlots& slots)
      : tiles_(rows), choice_(choice), slots_(slots) {}

  __device__ void prepare(const RowWalk& /*walk*/, unsigned /*row_tile*/, std::uint32_t row) {
    rows_.load(tiles_.no, row);
  }
  __device__ __forceinline__ void judge(const Sums (&sums)[1], const SharedColumnBounds& columns, std::uint32_t row,
                                        std::uint32_t column) const {
    std::uint64_t found[2] = {0, 0};
    std::uint64_t yes[2] = {0, 0};
    if (!classify(sums, rows_, columns, INFINITY, found, yes)) return;
    std::uint64_t left = found[0];
#pragma unroll 1
    while (left != 0) {
      const auto bit = static_cast<unsigned>(__ffsll(static_cast<long long>(left))) - 1;
      left &= left - 1;
      float value = 0;
#pragma unroll
      for (unsigned n = 0; n < kFragments; ++n) {
#pragma unroll
        for (unsigned v = 0; v < 4; ++v) value = bit == 4 * n + v ? sums[0][n][v] : value;
      }
      float bounds[2];
      columns.of(bit / 4, bounds);
      offer(row + 8 * (bit % 4 / 2),
            {value - (bit % 2 == 0 ? bounds[0] : bounds[1]), column + 8 * (bit / 4) + bit % 2});
    }
    __syncwarp();
  }

 private:
  __device__ void offer(std::uint32_t row, RowCandidate candidate) const {
    const std::uint32_t q = candidate.column;
    const std::uint32_t p = choice_.positions == nullptr ? row : __ldg(choice_.positions + row);
    if (p == q) return;
    if (choice_.components != nullptr && (__ldg(choice_.components + p) == __ldg(choice_.components + q) ||
                                          !(__ldg(choice_.core + q) < __ldg(choice_.limits + row)))) {
      return;
    }
    const std::uint32_t at = atomicAdd(slots_.counts + row, 1U);
    if (at < slots_.room) slots_.slots[std::uint64_t{row} * slots_.room + at] = candidate;
  }

  const ProductTiles<float>& tiles_;
  const ColumnChoice& choice_;
  const CandidateSlots& slots_;
  RowBounds<float, 1, 16> rows_;
};

__global__ void __launch_bounds__(kThreads, 1)
    row_candidates_kernel(const __grid_constant__ ProductTiles<float> rows,
                          const __grid_constant__ ProductTiles<float> columns, RowWork work,
                          const __grid_constant__ ColumnChoice choice, const __grid_constant__ CandidateSlots slots) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte slices[];
  __shared__ std::uint64_t barriers[2 * kStages];
  const Stages stages(slices, barriers);
  const unsigned group = __shfl_sync(tuning::kWholeWarp, threadIdx.x / kGroupThreads, 0);
  if (threadIdx.x == 0) stages.init();
  __syncthreads();
  const RowWalk walk(work, blockIdx.x, gridDim.x);
  if (group == kGroups) {
    copy_slices(rows, columns, walk, stages);
  } else {
    CandidateJudge judge(rows, choice, slots);
    multiply_tiles(rows, walk, stages, group, judge);
  }
#endif
}

}  // namespace

void launch_row_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, RowWork work,
                           const ColumnChoice& choice, const CandidateSlots& slots, unsigned multiprocessors,
                           cudaStream_t stream) {
  constexpr std::uint32_t kMostAtOnce = 8;
  constexpr std::uint64_t kTurns = 4;  // sets for each multiprocessor, so that all end at about the same time
  const std::uint64_t pairs = std::uint64_t{work.row_pairs()} * work.columns;
  work.columns_at_once =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pairs / (kTurns * multiprocessors), 1, kMostAtOnce));
  check(cudaFuncSetAttribute(row_candidates_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  row_candidates_kernel<<<multiprocessors, kThreads, kSharedBytes, stream>>>(rows, columns, work, choice, slots);
  check_launch(stream);
}

}  // namespace epsflow::gpu
