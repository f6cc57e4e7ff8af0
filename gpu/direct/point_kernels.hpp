// The kernels that cluster point by point, on the cells of GridView. All compare in float64 as index/distance.hpp says.
// None waits. Rows: positions [begin, end), begin a multiple of 32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>

namespace epsflow::gpu {

/// counts[p]: points within eps of position p, at most minpts.most. weights: null, or what to sum in place of counting points.
/// counts or core_bits may be null; core_bits: a bit per position, counts >= minpts.most.
void launch_count_points(const GridView& grid, Range rows, const MinptsRange& minpts, const WeighingView* weights,
                         std::uint32_t* counts, std::uint32_t* core_bits, cudaStream_t stream);

/// parents[p]: p for a core point that has no parent yet, kNotCore for those that are not core. before: the bits of the
/// larger minpts that `parents` comes from, or null at the beginning.
void launch_begin_points(const std::uint32_t* core_bits, const std::uint32_t* before, std::uint32_t size,
                         std::uint32_t* parents, cudaStream_t stream);

/// Unites core points with those core points before them that are within eps. Pairs that are core in `before`, which may
/// be null, are united already.
void launch_unite_points(const GridView& grid, Range rows, const std::uint32_t* before, std::uint32_t* parents,
                         cudaStream_t stream);

/// Labels of the rows whose ids are below `labelled`. Adds to tally and sizes.
void launch_label_points(const GridView& grid, Range rows, const std::uint32_t* order, std::uint32_t labelled,
                         const std::uint32_t* numbers, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                         cudaStream_t stream);

}  // namespace epsflow::gpu
