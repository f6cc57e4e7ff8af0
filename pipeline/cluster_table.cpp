#include <epsflow/pipeline/cluster_table.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/label_clusters.hpp>
#include <epsflow/clustering/rows_source.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/pipeline/in_order.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/workers.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {
namespace {

/// Rows that a thread takes at a time.
constexpr std::size_t kRows = 256;

/// The fault of the first invalid row, whichever thread finds it.
class FirstFault {
 public:
  /// what(): returns a sentence. It is called only if no earlier row is known to be invalid.
  template <class What>
  void note(std::size_t row, const What& what) {
    const std::scoped_lock lock(mutex_);
    if (row >= row_) return;
    row_ = row;
    text_ = what();
  }
  [[nodiscard]] bool found() const noexcept { return row_ != kNone; }
  /// Returns the first invalid row so far, or a number beyond all rows.
  [[nodiscard]] std::size_t row() const noexcept { return row_.load(std::memory_order_relaxed); }
  /// Throws InputError if a row is invalid.
  void check() const {
    if (row_ != kNone) throw InputError("row " + format_count(row_) + " of the table " + text_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::mutex mutex_;
  std::atomic<std::size_t> row_ = kNone;
  std::string text_;
};

/// Calls work(row) for the rows of [0, n), on as many threads as the arena has. Leaves out rows after a fault.
template <class Work>
void for_rows(std::size_t n, const CancelToken& cancel, const FirstFault& fault, const Work& work) {
  parallel_ranges(n, kRows, [&](std::size_t begin, std::size_t end) {
    if (cancel.cancelled()) return;
    for (std::size_t row = begin; row < end && row < fault.row(); ++row) work(row);
  });
  cancel.check();
}

void check_shape(const NeighborsView& table) {
  const auto& offsets = table.offsets;
  if (table.size() > kMaxPoints) {
    throw UsageError("the table has " + format_count(table.size()) + " rows, and at most " + format_count(kMaxPoints) +
                     " are possible");
  }
  if (offsets.empty() ? !table.ids.empty() : offsets.front() != 0 || offsets.back() != table.ids.size()) {
    throw InputError("the offsets of the table must begin with 0 and end with its number of entries, " +
                     format_count(table.ids.size()));
  }
  if (!table.distances.empty() && table.distances.size() != table.ids.size()) {
    throw InputError("the table has " + format_count(table.ids.size()) + " entries and " +
                     format_count(table.distances.size()) + " distances: give one for each entry, or none");
  }
  const auto falls = std::ranges::adjacent_find(offsets, std::ranges::greater{});
  if (falls != offsets.end()) {
    throw InputError("the offsets of the table fall after row " +
                     format_count(static_cast<std::uint64_t>(falls - offsets.begin())) + ": they must ascend");
  }
}

/// groups: by descending eps.
void check_eps(const NeighborsView& table, const std::vector<stages::EpsGroup>& groups) {
  if (table.eps == 0 || groups.empty()) return;
  const double eps = groups.front().eps;
  const std::string made_for = "the table holds the neighbours within " + format_number(table.eps);
  if (eps > table.eps) {
    throw UsageError(made_for + ", and eps " + format_number(eps) +
                     " is larger, so that it lacks some: make it with that eps");
  }
  if (table.distances.empty() && eps < table.eps) {
    throw UsageError(made_for + " and no distances, so that it does not say which are within eps " +
                     format_number(eps) + ": make it with distances, or with that eps");
  }
}

/// Checks each row by itself.
void check_rows(const NeighborsView& table, const CancelToken& cancel) {
  FirstFault fault;
  const std::size_t n = table.size();
  for_rows(n, cancel, fault, [&](std::size_t row) {
    bool itself = false;
    for (std::uint64_t at = table.offsets[row]; at < table.offsets[row + 1]; ++at) {
      const std::uint32_t id = table.ids[at];
      itself = itself || id == row;
      if (id >= n) {
        return fault.note(row, [&] {
          return "names point " + format_count(id) + ", and there are " + format_count(n) + ": ids count from 0";
        });
      }
      if (at > table.offsets[row] && table.ids[at - 1] >= id) {
        return fault.note(row, [&] {
          return "has " + format_count(id) + " after " + format_count(table.ids[at - 1]) +
                 ": sort each row by id, each id once";
        });
      }
      if (!table.distances.empty() && !(table.distances[at] >= 0)) {
        return fault.note(row, [&] {
          return "has the distance " + format_number(table.distances[at]) + " to point " + format_count(id) +
                 ": distances are numbers of at least 0";
        });
      }
    }
    if (!itself) {
      return fault.note(row, [] { return "lacks the point itself, which is its own neighbour: add it"; });
    }
  });
  fault.check();
}

/// Notes the first row that has a neighbour without that row's point in its own row, under some eps.
void find_asymmetry(const NeighborsView& table, std::vector<double> radii, const CancelToken& cancel,
                    FirstFault& fault) {
  std::ranges::sort(radii);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto distance = [&](std::uint64_t at) { return table.distances.empty() ? 0 : table.distances[at]; };
  for_rows(table.size(), cancel, fault, [&](std::size_t row) {
    for (std::uint64_t at = table.offsets[row]; at < table.offsets[row + 1]; ++at) {
      const std::uint32_t id = table.ids[at];
      const auto begin = table.ids.begin() + static_cast<std::ptrdiff_t>(table.offsets[id]);
      const auto end = table.ids.begin() + static_cast<std::ptrdiff_t>(table.offsets[id + std::size_t{1}]);
      const auto back = std::lower_bound(begin, end, static_cast<std::uint32_t>(row));
      const bool there = back != end && *back == row;
      const double to = distance(at);
      const double from = there ? distance(static_cast<std::uint64_t>(back - table.ids.begin())) : kNone;
      if (to == from) continue;
      // With an eps between the two distances only one of the points is a neighbour of the other.
      const auto eps = std::ranges::lower_bound(radii, std::min(to, from));
      if (eps == radii.end() || *eps >= std::max(to, from)) continue;
      return fault.note(row, [&] {
        const std::string other = "row " + format_count(id);
        return "has point " + format_count(id) +
               (table.distances.empty() ? "" : " at the distance " + format_number(to)) + ", and " + other +
               (there ? " has point " + format_count(row) + " at the distance " + format_number(from)
                      : " does not have point " + format_count(row) +
                            (table.distances.empty() ? "" : " within " + format_number(radii.back()))) +
               ": neighbours are so in both rows; make the table symmetric";
      });
    }
  });
}

/// Returns the radius that distances are compared with.
double radius_of(double eps, const TableRun& run) { return run.float32_eps ? static_cast<float>(eps) : eps; }

/// Clusters along rows that are not symmetric.
VariantResult grow_along_rows(const NeighborsView& table, std::span<const std::uint32_t> counts, const Variant& variant,
                              double radius, const CancelToken& cancel) {
  const auto n = static_cast<std::uint32_t>(table.size());
  VariantResult result;
  result.variant = variant;
  result.labels = Labels(std::vector<std::int32_t>(n, kNoise));
  result.core.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) result.core[i] = counts[i] >= variant.minpts ? 1 : 0;
  std::int32_t clusters = 0;
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < n; ++first) {
    if (result.core[first] == 0 || result.labels[first] != kNoise) continue;
    cancel.check();
    result.labels[first] = clusters;
    open.push_back(first);
    while (!open.empty()) {
      const std::uint32_t point = open.back();
      open.pop_back();
      for (std::uint64_t at = table.offsets[point]; at < table.offsets[point + std::size_t{1}]; ++at) {
        const std::uint32_t id = table.ids[at];
        if (result.labels[id] != kNoise || (!table.distances.empty() && !(table.distances[at] <= radius))) continue;
        result.labels[id] = clusters;
        if (result.core[id] != 0) open.push_back(id);
      }
    }
    ++clusters;
  }
  result.summary = clustering::summarise(result.labels, result.core, static_cast<std::uint64_t>(clusters));
  return result;
}

template <class T>
Neighbors table_of(std::span<const T> distances, std::size_t n, double eps, const EngineOptions& engine,
                   const Observer& observer) {
  Workers workers(engine, "neighbors_of_distances()");
  (void)Sweep({{eps, 1}});  // checks eps
  if (n > kMaxPoints || distances.size() != n * n) {
    throw UsageError("a matrix of distances has a value for each pair, and this one has " +
                     format_count(distances.size()) + " for " + format_count(n, "point"));
  }
  const CancelToken cancel(observer.cancel);
  Neighbors result{Buffer<std::uint64_t>(n + 1), {}, {}};
  const MemoryCharge matrix(workers.budget, distances.size_bytes() + n * sizeof(std::uint64_t),
                            "the matrix of distances");
  result.offsets[0] = 0;
  workers.arena.execute([&] {
    FirstFault fault;
    for_rows(n, cancel, fault, [&](std::size_t row) {
      std::uint64_t count = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double d = distances[row * n + k];
        if (!(d >= 0)) {
          return fault.note(row, [&] {
            return "has the distance " + format_number(d) + " to point " + format_count(k) +
                   ": distances are numbers of at least 0";
          });
        }
        count += k == row || d <= eps ? 1 : 0;
      }
      result.offsets[row + 1] = count;
    });
    fault.check();
    for (std::size_t row = 0; row < n; ++row) result.offsets[row + 1] += result.offsets[row];
    const std::uint64_t pairs = result.offsets[n];
    const MemoryCharge table(workers.budget, pairs * (sizeof(std::uint32_t) + sizeof(double)),
                             "the table of neighbours");
    result.ids = Buffer<std::uint32_t>(pairs);
    result.distances = Buffer<double>(pairs);
    for_rows(n, cancel, fault, [&](std::size_t row) {
      std::uint64_t at = result.offsets[row];
      for (std::size_t k = 0; k < n; ++k) {
        const double d = distances[row * n + k];
        if (k != row && !(d <= eps)) continue;
        result.ids[at] = static_cast<std::uint32_t>(k);
        result.distances[at++] = d;
      }
    });
  });
  return result;
}

}  // namespace

std::vector<VariantResult> cluster(const NeighborsView& table, const Sweep& sweep, const TableRun& run,
                                   const EngineOptions& engine, const Observer& observer) {
  return in_order(sweep,
                  [&](const OnResult& on_result) { cluster_each(table, sweep, on_result, run, engine, observer); });
}

void cluster_each(const NeighborsView& table, const Sweep& sweep, const OnResult& on_result, const TableRun& run,
                  const EngineOptions& engine, const Observer& observer) {
  Workers workers(engine, "cluster()");
  const CancelToken cancel(observer.cancel);
  cancel.check();
  check_shape(table);
  if (!run.weights.empty() && run.weights.size() != table.size()) {
    throw UsageError("the table has " + format_count(table.size(), "row") + " and there are " +
                     format_count(run.weights.size(), "weight") + ": give one for each row");
  }
  const std::vector<stages::EpsGroup> groups = stages::group_by_eps(sweep);
  if (table.distances.empty() && groups.size() > 1) {
    throw UsageError("the table has no distances, so that all entries are neighbours, and the sweep has " +
                     format_count(groups.size()) + " eps: give the distances, or one eps");
  }
  check_eps(table, groups);
  std::optional<WholeWeights> weights;
  if (!run.weights.empty()) weights.emplace(run.weights);
  const std::uint64_t n = table.size();
  const MemoryCharge memory(workers.budget,
                            table.offsets.size_bytes() + table.ids.size_bytes() + table.distances.size_bytes() +
                                n * clustering::kBytesPerPoint + clustering::RowsSource::bytes(n) +
                                (weights ? weights->bytes() : 0),
                            "the table and its clustering");
  Reporter reporter(observer, sweep.size());
  workers.arena.execute([&] {
    check_rows(table, cancel);
    std::vector<double> radii;
    radii.reserve(groups.size());
    for (const stages::EpsGroup& group : groups) radii.push_back(radius_of(group.eps, run));
    FirstFault asymmetry;
    find_asymmetry(table, radii, cancel, asymmetry);
    if (!run.directed) asymmetry.check();
    const auto emit = [&](VariantResult&& result) { reporter.done([&] { on_result(std::move(result)); }); };
    for (const stages::EpsGroup& group : groups) {
      const double radius = radius_of(group.eps, run);
      clustering::RowsSource source(table, radius, group.minpts, weights ? &*weights : nullptr, cancel);
      if (asymmetry.found()) {
        for (const std::uint32_t minpts : group.minpts) {
          const Stopwatch time;
          VariantResult result = grow_along_rows(table, source.counts(), {group.eps, minpts}, radius, cancel);
          if (!run.core_mask) result.core.clear();
          result.seconds = time.seconds();
          emit(std::move(result));
        }
        continue;
      }
      clustering::cluster_nested({source, group.eps, run.core_mask}, group.minpts, cancel, emit);
    }
  });
}

Neighbors neighbors_of_distances(std::span<const double> distances, std::size_t n, double eps,
                                 const EngineOptions& engine, const Observer& observer) {
  return table_of(distances, n, eps, engine, observer);
}

Neighbors neighbors_of_distances(std::span<const float> distances, std::size_t n, double eps,
                                 const EngineOptions& engine, const Observer& observer) {
  return table_of(distances, n, eps, engine, observer);
}

}  // namespace epsflow
