// All pairs of neighbours of one eps, by tiles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/tiles/device_tile_order.hpp>
#include <epsflow/gpu/tiles/pair_kernels.hpp>
#include <epsflow/gpu/tiles/tile_kernels.hpp>

namespace epsflow::gpu {

/// Figures of a search.
struct TileFigures {
  std::uint64_t tile_pairs = 0;  ///< pairs of tiles that are compared
  /// Entries of the lists of pairs that products left to float64, in all passes. Unused entries count, too.
  std::uint64_t undecided_pairs = 0;
  DecideChoice filter = DecideChoice::scalar;  ///< the test in use
};

struct TileSearchOptions {
  double eps = 0;
  /// Used if the data permit it, else scalar. automatic: half precision, or float64 products if half precision leaves
  /// too many pairs of a sample undecided.
  DecideChoice decide = DecideChoice::automatic;
  bool portable = false;  ///< uses no kernels for a particular GPU
};

/// Writes pairs to a list in device memory. If all fit, the list is cached and read again later. If not, the list is
/// filled share by share, and each pass over the pairs is a new search.
class TileSearch {
 public:
  /// `points`, `memory` and `cancel` must outlive the object. The GPU must be the current one in all calls. Waits.
  /// Throws DeviceError.
  TileSearch(const DevicePoints& points, std::shared_ptr<const DeviceTileOrder> tiles, const TileSearchOptions& options,
             DeviceMemory& memory, const CancelToken& cancel);

  /// Calls visit(list) for lists that together hold each pair of neighbours once, except pairs that forget_united() has
  /// removed. Lists have gaps (pair_kernels.hpp). Work that visit puts on stream() is done before a list is
  /// overwritten. Waits unless the list is cached. Throws Cancelled, DeviceError.
  void for_each_list(const std::function<void(PairsOnDevice)>& visit);

  /// Removes pairs of two core points, if the list is cached, long, and becomes at most half as long, and if memory
  /// suffices: these points are united already, and stay so for smaller minpts. core_bits: [device] one bit for each
  /// position. Waits. Throws DeviceError.
  void forget_united(const std::uint32_t* core_bits);

  [[nodiscard]] const DeviceTileOrder& tiles() const noexcept { return *tiles_; }
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  [[nodiscard]] const TileFigures& figures() const noexcept { return figures_; }
  /// True if the list is cached: it holds all pairs, except those that forget_united() removed.
  [[nodiscard]] bool cached() const noexcept { return cached_; }

 private:
  struct TileSample {
    PairCounts counts;
    std::uint64_t stride = 0;  ///< one block in this many; 0 before a sample is taken
  };
  /// The state of a pass over all pairs.
  struct Pass {
    std::vector<TileWork> left;  ///< parts still to be compared, the next one last
    std::uint64_t taken = 0;     ///< number of entries of the list in use
    bool whole = true;           ///< the list holds all pairs so far, and may be cached
  };

  void choose_frame(const TileSurvey& survey, double eps);
  [[nodiscard]] bool leaves_too_much(const TileSurvey& survey, double eps);
  [[nodiscard]] std::uint64_t sample_stride() const;
  void take_sample();
  template <class Real>
  void make_factors(ProductTiles<Real>& view, DeviceBuffer<Real>& bounds);
  [[nodiscard]] std::vector<TileWork> cut_work() const;
  void make_lists(std::uint64_t most);
  void launch(const TileWork& work, std::uint64_t taken) const;
  [[nodiscard]] bool make_buffer(const PairCounts& counts, const Pass& pass, std::uint64_t most);
  static void halve_next(Pass& pass);

  std::shared_ptr<const DeviceTileOrder> tiles_;
  DeviceMemory& memory_;
  const CancelToken& cancel_;
  Stream stream_;
  unsigned multiprocessors_ = 1;
  bool hopper_ = false;
  bool pruned_ = false;  ///< at least half of the pairs of tiles are pruned
  OrderedPoints points_;
  TileFrame frame_;
  TileFigures figures_;
  DeviceBuffer<double> centre_;
  DeviceBuffer<std::byte> slices_;
  DeviceBuffer<float> bounds32_;
  DeviceBuffer<double> bounds64_;
  ProductTiles<float> factors32_;
  ProductTiles<double> factors64_;
  DeviceBuffer<PairCounts> counts_;
  DeviceBuffer<PointPair> pairs_;
  DeviceBuffer<PointPair> open_;
  TileSample sample_;
  bool first_pass_done_ = false;  // the first pass decides whether a list is cached
  bool cached_ = false;
  std::uint64_t cached_size_ = 0;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
