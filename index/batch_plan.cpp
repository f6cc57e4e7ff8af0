#include <epsflow/index/batch_plan.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>

#include <epsflow/index/candidate_runs.hpp>

namespace epsflow::index {
namespace {

struct Sample {
  double candidates = 0;
  double pairs = 0;
};

/// Counts the neighbours of every 100th position. Positions are in cell order, so the sample follows the density.
Sample sample_pairs(const Grid& grid, const RowSearch& search, const CancelToken& cancel) {
  const auto stride = static_cast<std::uint32_t>(1 / kSampleShare);
  const std::uint32_t samples = (grid.size() + stride - 1) / stride;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::uint32_t>(0, samples, 256), Sample{},
      [&](const tbb::blocked_range<std::uint32_t>& range, Sample sum) {
        if (cancel.cancelled()) return sum;
        for (std::uint32_t s = range.begin(); s != range.end(); ++s) {
          const std::uint32_t row = s * stride;
          const CandidateRuns candidates(grid, grid.cell_of(row));
          std::uint32_t count = 0;
          search.count({row, row + 1}, candidates.runs(), &count);
          for (const Run& run : candidates.runs()) sum.candidates += run.size();
          sum.pairs += count;
        }
        return sum;
      },
      [](Sample a, Sample b) { return Sample{a.candidates + b.candidates, a.pairs + b.pairs}; });
}

/// Consecutive rows, cut where the tests reach `most_tests` or the estimated pairs `most_pairs`.
std::vector<Batch> cut(const Grid& grid, std::span<const std::uint64_t> candidates, double share, double most_tests,
                       double most_pairs) {
  std::vector<Batch> batches;
  std::uint32_t first = 0;
  double tests = 0;
  const auto close = [&](std::uint32_t end) {
    if (end == first) return;
    batches.push_back({{first, end}, static_cast<std::uint64_t>(std::ceil(tests * share))});
    first = end;
    tests = 0;
  };
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    const double per_row = static_cast<double>(candidates[cell]);
    std::uint32_t row = grid.cell_starts()[cell];
    const std::uint32_t end = grid.cell_starts()[cell + 1];
    while (row < end) {
      const double most = std::min(most_tests, share > 0 ? most_pairs / share : most_tests);
      const double room = std::floor((most - tests) / per_row);
      if (room < 1 && row > first) {
        close(row);
        continue;
      }
      const std::uint32_t take = static_cast<std::uint32_t>(std::min<double>(std::max(room, 1.0), end - row));
      row += take;
      tests += take * per_row;
    }
  }
  close(grid.size());
  return batches;
}

double sum_of_tests(const Grid& grid, std::span<const std::uint64_t> candidates) {
  double sum = 0;
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    sum += static_cast<double>(candidates[cell]) * (grid.cell_starts()[cell + 1] - grid.cell_starts()[cell]);
  }
  return sum;
}

double most_tests(const Grid& grid, double tests, unsigned workers) {
  const double dims_factor = std::max(1.0, static_cast<double>(grid.dims()) / 4);
  return std::clamp(tests / (32.0 * workers), static_cast<double>(kFewestTests),
                    static_cast<double>(kMostTests) / dims_factor + kFewestTests);
}

}  // namespace

std::vector<std::uint64_t> candidates_per_cell(const Grid& grid, const CancelToken& cancel) {
  std::vector<std::uint64_t> candidates(grid.cells());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, grid.cells(), 4096),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      if (cancel.cancelled()) return;
                      CandidateRuns cell(grid, range.begin());
                      for (std::size_t c = range.begin();; cell.next()) {
                        for (const Run& run : cell.runs()) candidates[c] += run.size();
                        if (++c == range.end()) return;
                      }
                    });
  cancel.check();
  return candidates;
}

BatchPlan plan_by_tests(const Grid& grid, std::span<const std::uint64_t> candidates, const PlanOptions& options) {
  const double most = most_tests(grid, sum_of_tests(grid, candidates), options.workers);
  return {cut(grid, candidates, 0, most, 0), 0, 0};
}

BatchPlan plan_by_pairs(const Grid& grid, const RowSearch& search, std::span<const std::uint64_t> candidates,
                        const PlanOptions& options, const CancelToken& cancel) {
  const Sample sample = sample_pairs(grid, search, cancel);
  cancel.check();
  const double tests = sum_of_tests(grid, candidates);
  const double share = sample.candidates > 0 ? sample.pairs / sample.candidates : 0;
  BatchPlan plan;
  plan.estimated_pairs = static_cast<std::uint64_t>(std::ceil(tests * share));
  plan.lane_pairs = options.lane_pairs > 0 ? options.lane_pairs : kLanePairs;
  const double alpha = plan.estimated_pairs < kSmallPairs ? kAlphaSmall : kAlpha;
  plan.batches = cut(grid, candidates, share, most_tests(grid, tests, options.workers),
                     static_cast<double>(plan.lane_pairs) / (1 + alpha));
  return plan;
}

std::pair<Batch, Batch> split(const Batch& batch) {
  const std::uint32_t middle = batch.rows.begin + batch.rows.size() / 2;
  return {{{batch.rows.begin, middle}, batch.expected_pairs / 2},
          {{middle, batch.rows.end}, batch.expected_pairs - batch.expected_pairs / 2}};
}

}  // namespace epsflow::index
