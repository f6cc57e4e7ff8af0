#include <epsflow/pipeline/session.hpp>

#include <tbb/info.h>

#include <algorithm>

namespace epsflow {
namespace {

unsigned cores() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

}  // namespace

Session::Session(PointsView points, const Options& options, const Observer& observer)
    : points_(points),
      options_(options),
      observer_(observer),
      threads_(options.threads > 0 ? options.threads : cores()),
      more_threads_than_cores_(tbb::global_control::max_allowed_parallelism, std::max(threads_, cores())),
      arena_(static_cast<int>(threads_)),
      budget_(options.memory > 0 ? options.memory : std::max<std::uint64_t>(machine_memory() / 2, 1ULL << 30)),
      points_memory_(budget_, points.bytes(), "the data set"),
      pool_(budget_),
      stop_(observer.cancel),
      backend_(make_backend(options.backend, threads_)) {
  require_finite(points);
}

void Session::run(std::vector<stages::EpsGroup> groups, const TableConsumer& consumer) {
  const FlowContext context{points_, options_, observer_, *backend_, pool_, threads_, stop_};
  arena_.execute([&] { run_flow(context, std::move(groups), consumer); });
}

}  // namespace epsflow
