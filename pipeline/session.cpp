#include <epsflow/pipeline/session.hpp>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include <epsflow/pipeline/make_backend.hpp>

namespace epsflow {
namespace {

unsigned cores() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

/// Lets every session have as many threads as it asks for. One for the process: oneTBB takes the smallest of several
/// limits for all, and prints where a session then gets fewer threads.
void allow_more_threads_than_cores() {
  constexpr std::size_t kMostThreads = 4096;
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, kMostThreads);
}

}  // namespace

Session::Session(PointsView points, const Options& options, const Observer& observer)
    : points_(points),
      options_((check_options(options), options)),
      observer_(observer),
      threads_(options.threads > 0 ? options.threads : cores()),
      arena_(static_cast<int>(threads_)),
      budget_(options.memory > 0 ? options.memory : std::max<std::uint64_t>(machine_memory() / 2, 1ULL << 30)),
      points_memory_(budget_, points.bytes(), "the data set"),
      backend_(make_backend(options, threads_, observer.on_notice)),
      pool_(budget_, backend_->pinner()),
      stop_(observer.cancel) {
  allow_more_threads_than_cores();
  arena_.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, points.size(), 1 << 16),
                      [&](const tbb::blocked_range<std::size_t>& r) { require_finite(points, r.begin(), r.end()); });
  });
}

void Session::run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer) {
  const FlowContext context{points_, options_, observer_, *backend_, pool_, threads_, stop_};
  arena_.execute([&] { run_flow(context, std::move(groups), consumer); });
}

void Session::on_threads(const std::function<void()>& body) {
  arena_.execute([&] { body(); });
}

}  // namespace epsflow
