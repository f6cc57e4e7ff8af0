// Stage: one batch on one lane.
#pragma once

#include <epsflow/core/backend.hpp>
#include <epsflow/stages/table_job.hpp>

namespace epsflow::stages {

struct FindNeighbors {
  /// Starts the search of `batch`; `done` is called when its rows are in the table (packed) or in the lane (csr).
  void operator()(TableJob& job, const Batch& batch, Lane& lane, NeighborSearch::Completion done) const {
    job.search->search(batch, lane, *job.table, std::move(done));
  }
};

}  // namespace epsflow::stages
