// The kernels that compare tiles of points, and what prepares the points for them. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>
#include <epsflow/index/tile_frame.hpp>

namespace epsflow::gpu {

// Preparing.

/// centre[k]: about the mean of coordinate k, of a sample; a whole number where the sample's values are. [device] [dims]
void launch_centre(PointsOnDevice points, double* centre, cudaStream_t stream);
/// What all coordinates have in common.
struct TileSurvey {
  unsigned long long farthest;  ///< bits of the largest |x_k − centre_k|, infinite where a difference is
  unsigned fractions;           ///< not 0: some coordinate is no whole number
};
/// *survey: [device] zeros before.
void launch_survey(PointsOnDevice points, const double* centre, TileSurvey* survey, cudaStream_t stream);

/// How points are moved and scaled before they are rounded; see index/tile_frame.hpp.
struct TileFrame {
  const double* centre = nullptr;  ///< [device] [dims]
  int exponent = 0;                ///< scaled by 2^exponent
  double gamma = 0;                ///< a computed product is off by at most gamma·‖p‖·‖q‖
  double eps = 0;                  ///< scaled
  bool exact = false;              ///< whole numbers for which exact_thresholds() holds, unscaled
  double limit = 0;                ///< eps², where exact
};

/// Fills the arrays that the view points to.
void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<float>& tiles,
                    cudaStream_t stream);
void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<double>& tiles,
                    cudaStream_t stream);

// Comparing: pairs of different positions within eps, the lower one first, each once, in any order.

/// Products on tensor cores from compute capability 8.0 on.
void launch_product_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream);
void launch_product_tiles(const ProductTiles<double>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream);
/// The same on a GPU of compute capability 9.0, faster.
void launch_hopper_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream);
/// The test of distance.hpp on every pair: nothing is left open.
void launch_scalar_tiles(const OrderedPoints& points, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream);
/// The same on the pairs that were left open, as far as there was room for them.
void launch_open_pairs(const OrderedPoints& points, const PairSink& sink, unsigned multiprocessors,
                       cudaStream_t stream);

}  // namespace epsflow::gpu
