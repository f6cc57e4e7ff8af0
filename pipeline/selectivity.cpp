#include <epsflow/pipeline/selectivity.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/scatter.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/neighbor_counts.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow {
namespace {

void check(std::span<const double> eps, std::size_t sample) {
  for (const double e : eps) static_cast<void>(Sweep({{e, 1}}));
  if (sample < 2)
    throw UsageError("sample is " + std::to_string(sample) + ": count the neighbours of 2 points or more");
}

/// Cuts the positions 0 … n into stretches of nearly equal size, and chooses one position of each.
class Stretches {
 public:
  Stretches(std::uint64_t n, std::uint64_t count) : n_(n), positions_(count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      positions_[i] = static_cast<std::uint32_t>(begin(i) + scatter(i) % size(i));
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> positions() const noexcept { return positions_; }
  [[nodiscard]] std::uint64_t size(std::uint64_t i) const noexcept { return begin(i + 1) - begin(i); }

 private:
  [[nodiscard]] std::uint64_t begin(std::uint64_t i) const noexcept { return i * n_ / positions_.size(); }

  std::uint64_t n_;
  std::vector<std::uint32_t> positions_;
};

/// Returns the selectivity of one eps. counts: neighbours of the chosen points, each point itself included, for all
/// eps, from this eps on. stride: the number of eps.
Selectivity of_counts(double eps, std::uint64_t n, const Stretches& stretches, const std::uint32_t* counts,
                      std::size_t stride) {
  const std::size_t sampled = stretches.positions().size();
  const auto neighbors = [&](std::size_t i) { return std::uint64_t{counts[i * stride]} - 1; };
  std::uint64_t total = 0;  // below n²
  double squares = 0;       // sum of squared successive differences
  double unseen = 0;        // Σ size · (size − 1): points that were passed over
  for (std::size_t i = 0; i < sampled; ++i) {
    const std::uint64_t size = stretches.size(i);
    total += size * neighbors(i);
    unseen += static_cast<double>(size * (size - 1));
    if (i == 0) continue;
    const double step = static_cast<double>(neighbors(i)) - static_cast<double>(neighbors(i - 1));
    squares += step * step;
  }
  const auto all = static_cast<double>(n);
  const double variance = sampled < 2 ? 0 : squares / (2 * static_cast<double>(sampled - 1));
  return {eps, static_cast<double>(total) / all, std::sqrt(variance * unseen) / all};
}

}  // namespace

std::vector<Selectivity> selectivity(const PointSet& points, std::span<const double> eps, std::size_t sample,
                                     const EngineOptions& engine, const Observer& observer) {
  check(eps, sample);
  const LoadedSet loaded(points, engine, {}, observer);
  const Dataset& data = loaded.data();
  Session session(data, {}, observer);
  session.require_one_slice("selectivity()");
  session.stop().check();
  std::vector<std::pair<double, std::size_t>> limits;  // with their indices in eps
  for (std::size_t j = 0; j < eps.size(); ++j) {
    limits.emplace_back(session.points().space().limit(session.radius(eps[j])), j);
  }
  std::sort(limits.begin(), limits.end());
  std::vector<Selectivity> found(eps.size());
  for (std::size_t j = 0; j < eps.size(); ++j) found[j].eps = eps[j];
  const std::uint64_t n = data.size();
  if (n == 0 || eps.empty()) return found;
  const std::uint64_t sampled = std::min<std::uint64_t>(n, sample);
  const std::uint64_t count_bytes = sampled * (eps.size() + 1) * sizeof(std::uint32_t);
  const MemoryCharge memory(session.budget(), count_bytes + index::LeafOrder::most_bytes(n, session.points().dims()),
                            "the counts of neighbours");
  std::vector<double> ascending;
  ascending.reserve(limits.size());
  for (const auto& [limit, position] : limits) ascending.push_back(limit);
  const Stretches stretches(n, sampled);
  std::vector<std::uint32_t> counts(sampled * eps.size());
  session.on_threads([&] {
    const index::LeafOrder leaves(session.points().host(), session.stop());
    index::count_neighbors(leaves, session.points().space(), stretches.positions(), ascending, counts.data(),
                           session.stop());
  });
  for (std::size_t j = 0; j < limits.size(); ++j) {
    const std::size_t position = limits[j].second;
    found[position] = of_counts(eps[position], n, stretches, counts.data() + j, eps.size());
  }
  return found;
}

}  // namespace epsflow
