// Stage: pairs in any order become rows. Only for kernels that emit pairs (the paper's); others pass through.
#pragma once

#include <utility>

#include <epsflow/core/backend.hpp>
#include <epsflow/stages/table_job.hpp>

namespace epsflow::stages {

struct SortPairs {
  Kernel kernel = Kernel::rows;

  [[nodiscard]] bool wanted(const Lane& lane) const noexcept {
    return emits_pairs(kernel) && !lane.overflow && !lane.out_of_memory && lane.pairs > 0;
  }
  /// Starts the sort of the lane's pairs; `done` is called when they are rows.
  void operator()(TableJob& job, Lane& lane, NeighborSearch::Completion done) const {
    job.search->sort_pairs(lane, *job.table, std::move(done));
  }
};

}  // namespace epsflow::stages
