#include <epsflow/index/batch_plan.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/candidate_ranges.hpp>

namespace epsflow::index {
namespace {

struct PairSample {
  double candidates = 0;
  double pairs = 0;
};

/// Counts the neighbours of every 100th position. Positions follow the index, so the sample follows the density.
PairSample sample_pairs(const SearchIndex& index, const RowSearch& search, const CancelToken& cancel) {
  const auto stride = static_cast<std::uint32_t>(1 / kSampleShare);
  const std::uint32_t samples = (index.size() + stride - 1) / stride;
  return parallel_reduce(
      samples, 256, PairSample{},
      [&](std::size_t begin, std::size_t end, PairSample sum) {
        if (cancel.cancelled()) return sum;
        for (auto s = static_cast<std::uint32_t>(begin); s != end; ++s) {
          const std::uint32_t row = s * stride;
          const CandidateRanges candidates(index, index.bundle_of(row));
          std::uint32_t count = 0;
          search.count({row, row + 1}, candidates.ranges(), &count);
          for (const Range& range : candidates.ranges()) sum.candidates += range.size();
          sum.pairs += count;
        }
        return sum;
      },
      [](PairSample a, PairSample b) {
        return PairSample{a.candidates + b.candidates, a.pairs + b.pairs};
      });
}

/// Cuts consecutive rows into batches of up to `most_tests` tests. tests_of(bundle): tests of all rows of the bundle.
/// share: share of the tests that find a neighbour.
template <class Tests>
BatchPlan cut(const SearchIndex& index, Tests tests_of, double most_tests, double share) {
  BatchPlan plan;
  std::uint32_t first = 0;
  double tests = 0;
  const auto close = [&](std::uint32_t end) {
    if (end == first) return;
    plan.batches.push_back(
        {.range = {first, end}, .expected_pairs = static_cast<std::uint64_t>(std::ceil(tests * share))});
    plan.blocks.push_back({first, end});
    first = end;
    tests = 0;
  };
  for (std::size_t bundle = 0; bundle < index.bundles(); ++bundle) {
    const double all = tests_of(bundle);
    if (tests + all <= most_tests) {
      tests += all;
      continue;
    }
    std::uint32_t row = index.rows_of(bundle).begin;
    const std::uint32_t end = index.rows_of(bundle).end;
    const double per_row = all / (end - row);
    while (row < end) {
      const double capacity = std::floor((most_tests - tests) / per_row);
      if (capacity < 1 && row > first) {
        close(row);
        continue;
      }
      const std::uint32_t take = static_cast<std::uint32_t>(std::min<double>(std::max(capacity, 1.0), end - row));
      row += take;
      tests += take * per_row;
    }
  }
  close(index.size());
  return plan;
}

double most_tests(const SearchIndex& index, double tests, unsigned workers) {
  const double dims_factor = std::max(1.0, static_cast<double>(index.dims()) / 4);
  return std::clamp(tests / (32.0 * workers), static_cast<double>(kFewestTests),
                    static_cast<double>(kMostTests) / dims_factor + kFewestTests);
}

/// Calls f(bundle, candidates of all its points) for every bundle, and returns the sum of the candidates.
template <class F>
double for_each_bundle(const SearchIndex& index, const CancelToken& cancel, F f) {
  return parallel_reduce(
      index.bundles(), 4096, 0.0,
      [&](std::size_t begin, std::size_t end, double sum) {
        if (cancel.cancelled()) return sum;
        CandidateRanges bundle(index, begin);
        for (std::size_t c = begin;; bundle.next()) {
          double candidates = 0;
          for (const Range& range : bundle.ranges()) candidates += range.size();
          candidates *= index.rows_of(c).size();
          f(c, candidates);
          sum += candidates;
          if (++c == end) return sum;
        }
      },
      std::plus<>());
}

}  // namespace

std::uint64_t count_candidates(const SearchIndex& index, const CancelToken& cancel) {
  const double sum = for_each_bundle(index, cancel, [](std::size_t, double) {});
  cancel.check();
  return static_cast<std::uint64_t>(sum);
}

BatchPlan plan_packed(const SearchIndex& index, const PackedLayout& layout, const TableOptions& options) {
  const double most = most_tests(index, 32 * static_cast<double>(layout.words()), options.workers);
  const auto tests_of = [&](std::size_t bundle) {
    return 32 * static_cast<double>(layout.first_words[bundle + 1] - layout.first_words[bundle]);
  };
  return cut(index, tests_of, most, 0);
}

BatchPlan plan_by_pairs(const SearchIndex& index, const RowSearch& search, const TableOptions& options,
                        const CancelToken& cancel) {
  const PairSample sample = sample_pairs(index, search, cancel);
  Buffer<double> bundle_tests(index.bundles());
  const double tests =
      for_each_bundle(index, cancel, [&](std::size_t bundle, double candidates) { bundle_tests[bundle] = candidates; });
  cancel.check();
  const double share = sample.candidates > 0 ? sample.pairs / sample.candidates * options.estimate_factor : 0;
  const auto pairs = static_cast<std::uint64_t>(std::ceil(tests * share));
  const std::uint64_t lane_pairs = options.lane_pairs > 0 ? options.lane_pairs : kLanePairs;
  const double alpha = pairs < kSmallPairs ? kAlphaSmall : kAlpha;
  double most = most_tests(index, tests, options.workers);
  if (share > 0) most = std::min(most, static_cast<double>(lane_pairs) / ((1 + alpha) * share));
  BatchPlan plan = cut(
      index, [&](std::size_t bundle) { return bundle_tests[bundle]; }, most, share);
  plan.pairs = pairs;
  plan.lane_pairs = lane_pairs;
  return plan;
}

std::pair<Batch, Batch> split_range(const Batch& batch) {
  const std::uint32_t middle = batch.range.begin + batch.range.size() / 2;
  Batch first = batch;
  Batch second = batch;
  first.range.end = second.range.begin = middle;
  first.expected_pairs = batch.expected_pairs / 2;
  second.expected_pairs = batch.expected_pairs - first.expected_pairs;
  return {first, second};
}

}  // namespace epsflow::index
