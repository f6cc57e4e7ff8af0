// The kernels that cluster point by point, on the cells of GridView. All compare in float64 as in index/distance.hpp.
// None waits. Rows are positions [begin, end); begin is a multiple of 32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>

namespace epsflow::gpu {

/// Writes counts[p] = the number of points within eps of position p, itself included, at most minpts.most. weights:
/// null, or weights; counts[p] is then the largest minpts that the sum of weights reaches, or 0. core_bits: a bit for
/// each position, set if counts[p] >= minpts.most. counts or core_bits may be null.
void launch_count_points(const GridView& grid, Range rows, const MinptsRange& minpts, const WeighingView* weights,
                         std::uint32_t* counts, std::uint32_t* core_bits, cudaStream_t stream);

/// Writes parents[p] = p for a core point that has no parent yet, and kNotCore for a point that is not core. before:
/// the core bits of the larger minpts whose sets `parents` holds, or null at the first level.
void launch_begin_points(const std::uint32_t* core_bits, const std::uint32_t* before, std::uint32_t size,
                         std::uint32_t* parents, cudaStream_t stream);

/// Unites each core point of `rows` with the core points of smaller positions within eps. before: null, or the core
/// bits of the larger minpts; pairs of points that were core there are already united.
void launch_unite_points(const GridView& grid, Range rows, const std::uint32_t* before, std::uint32_t* parents,
                         cudaStream_t stream);

/// Labels the rows whose ids are below `labelled`. Adds noise and border points to the tally, and border points to
/// sizes. labels: by id, or null.
void launch_label_points(const GridView& grid, Range rows, const std::uint32_t* order, std::uint32_t labelled,
                         const std::uint32_t* numbers, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                         cudaStream_t stream);

}  // namespace epsflow::gpu
