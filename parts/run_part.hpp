// One rank of a sweep on a device that it may have to share with others.
#pragma once

#include <cstdint>
#include <semaphore>
#include <span>

#include <epsflow/core/backend.hpp>
#include <epsflow/parts/part_sweep.hpp>

namespace epsflow::parts {

/// Ranks that take turns on one device, as it cannot hold the parts of all at a time.
class Turns {
 public:
  explicit Turns(std::ptrdiff_t at_once) : free_(at_once) {}

  /// From the moment that there is room until its end.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) { turns_.free_.acquire(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { turns_.free_.release(); }

   private:
    Turns& turns_;
  };

 private:
  std::counting_semaphore<> free_;
};

/// What a rank works with.
struct RankDevice {
  Backend& backend;
  unsigned threads = 1;
  std::uint64_t memory = 0;  ///< that labels of several variants may take, of all ranks together
  Turns* turns = nullptr;    ///< null: the device is the rank's alone
};

/// run_each() of parts/part_sweep.hpp on such a device. In turns the box of a periodic metric must be four neighbourhoods wide.
PartFigures run_part(Exchange& exchange, PointsView share, const Metric& metric, const Sweep& sweep,
                     const OnResult& on_result, const RankDevice& device, const RunOptions& options,
                     const Observer& observer, std::span<const double> weights = {},
                     const Partition* partition = nullptr);

}  // namespace epsflow::parts
