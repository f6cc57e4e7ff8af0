// The kernels that compare tiles of points, and those that prepare the points. No function waits for its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>
#include <epsflow/index/tile_frame.hpp>

namespace epsflow::gpu {

// Preparation.

/// Writes centre[k] = about the mean of coordinate k in a sample, whole if the values are. [device] [dims]
void launch_centre(PointsOnDevice points, double* centre, cudaStream_t stream);
/// Facts about all coordinates.
struct TileSurvey {
  unsigned long long farthest;  ///< bits of the largest |x_k − centre_k|; infinite if a difference is
  unsigned fractions;           ///< not 0 if a coordinate is not a whole number
};
/// Writes *survey. [device] It must be zero before.
void launch_survey(PointsOnDevice points, const double* centre, TileSurvey* survey, cudaStream_t stream);

/// How points are shifted and scaled before they are rounded; see index/tile_frame.hpp.
struct TileFrame {
  const double* centre = nullptr;  ///< [device] [dims]
  int exponent = 0;                ///< scaled by 2^exponent
  double gamma = 0;                ///< the error of a computed product is at most gamma·‖p‖·‖q‖
  double eps = 0;                  ///< scaled
  bool exact = false;              ///< true for unscaled whole numbers for which exact_thresholds() holds
  double limit = 0;                ///< eps², if exact
};

/// Fills the arrays of `tiles`, of which `shapes` may be null.
void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<float>& tiles,
                    cudaStream_t stream);
void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<double>& tiles,
                    cudaStream_t stream);

// Comparison: appends each pair of different positions within eps to sink.pairs once, the lower position first, in any
// order and with gaps. Products append pairs that they leave undecided to sink.open instead. Before, the caller sets
// sink.counts to the numbers of entries that the lists already have. launch_undecided_pairs() takes the counts that the
// comparison leaves.

/// Uses products on tensor cores, from compute capability 8.0 on.
void launch_product_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream);
void launch_product_tiles(const ProductTiles<double>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream);
/// Does the same on a GPU of compute capability 9.0, faster.
void launch_hopper_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream);
/// Applies the test of distance.hpp to every pair, so none is left undecided.
void launch_scalar_tiles(const OrderedPoints& points, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream);
/// Applies the test of distance.hpp to the pairs in sink.open, and appends those within eps to sink.pairs.
void launch_undecided_pairs(const OrderedPoints& points, const PairSink& sink, unsigned multiprocessors,
                            cudaStream_t stream);

}  // namespace epsflow::gpu
