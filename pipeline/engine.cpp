#include <epsflow/pipeline/engine.hpp>

#include <tbb/global_control.h>

#include <optional>
#include <string>

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/pipeline/make_backend.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow {
namespace {

/// Returns the metric in its simplest form. Throws UsageError.
Metric checked(const Metric& metric, std::size_t dims) {
  check_metric(metric, dims);
  return canonical(metric);
}

/// Lets every engine have as many threads as it requests. One limit serves the process: oneTBB applies the smallest of
/// several limits to all, and prints a warning if an engine then gets fewer threads.
void allow_more_threads_than_cores() {
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, kMostThreads);
}

}  // namespace

EngineState::EngineState(const EngineOptions& o, const std::function<void(const std::string&)>& on_notice)
    : options(resolved(o)),
      arena(static_cast<int>(options.threads)),
      budget(options.memory),
      backend(make_backend(options, on_notice)),
      pool(budget, backend->pinner()) {
  options.gpu = std::nullopt;
  if (backend->device() >= 0) options.gpu = narrow<unsigned>(backend->device());
  options.backend = options.gpu ? BackendChoice::gpu : BackendChoice::cpu;
  allow_more_threads_than_cores();
}

DatasetState::DatasetState(std::shared_ptr<EngineState> e, PointsView view, const Metric& m,
                           std::shared_ptr<const Slices> slices, const CancelToken* cancel)
    : engine(std::move(e)), metric(checked(m, view.dims())), dims(view.dims()) {
  const EngineQueue::Lock engine_lock(engine->queue, CancelToken(cancel));
  memory = MemoryCharge(engine->budget, view.bytes(), "the data set");
  engine->arena.execute([&] {
    Space space = transformed_space(metric);
    space.slices = std::move(slices);
    if (all_identity(metric, view)) {  // and no coordinate is rounded
      points = engine->backend->load(view, space);
      return;
    }
    const std::size_t width = transformed_dims(metric, dims);
    transformed_memory = MemoryCharge(engine->budget, std::uint64_t{view.size()} * width * sizeof(double),
                                      "the points as the metric moves them");
    moved = Points(view.size(), width, Precision::float64);
    transform_all(metric, view, moved.values<double>().data(), &fit);
    fit.require_fit();
    points = engine->backend->load(moved.view(), space);
  });
}

DatasetState::DatasetState(std::shared_ptr<EngineState> e, const DevicePointsView& view,
                           std::shared_ptr<const Slices> slices, const CancelToken* cancel)
    : engine(std::move(e)), dims(view.dims()) {
  const EngineQueue::Lock engine_lock(engine->queue, CancelToken(cancel));
  memory = MemoryCharge(engine->budget, view.bytes(), "the data set");
  Space space;
  space.slices = std::move(slices);
  points = engine->backend->load(view, space);
}

std::size_t Dataset::size() const noexcept { return state_->points->size(); }
std::size_t Dataset::slices() const noexcept {
  const auto& slices = state_->points->space().slices;
  return slices == nullptr ? 0 : slices->count();
}
std::size_t Dataset::dims() const noexcept { return state_->dims; }
const Metric& Dataset::metric() const noexcept { return state_->metric; }
Engine Dataset::engine() const { return Engine(state_->engine); }

Dataset Dataset::weighted(std::span<const double> weights, const CancelToken* cancel) const {
  if (weights.size() != size()) {
    throw UsageError("there are " + format_count(size(), "point") + " and " + format_count(weights.size(), "weight") +
                     ": give one for each");
  }
  EngineState& engine = *state_->engine;
  const EngineQueue::Lock engine_lock(engine.queue, CancelToken(cancel));
  MemoryCharge memory(engine.budget, weights.size_bytes(), "the column of weights");
  WholeWeights whole(weights);
  Dataset result = *this;
  result.weights_ = std::make_shared<const DatasetWeights>(
      DatasetWeights{.of = state_, .memory = std::move(memory), .loaded = state_->points->load(std::move(whole))});
  return result;
}

Engine::Engine(const EngineOptions& options, const std::function<void(const std::string&)>& on_notice)
    : state_(std::make_shared<EngineState>(options, on_notice)) {}

Dataset Engine::load(PointsView points, const Metric& metric, const CancelToken* cancel) const {
  return Dataset(std::make_shared<const DatasetState>(state_, points, metric, nullptr, cancel));
}
Dataset Engine::load(PointsView points, std::span<const std::uint64_t> slices, const Metric& metric,
                     const CancelToken* cancel) const {
  auto checked_slices = std::make_shared<const Slices>(slices, points.size());
  return Dataset(std::make_shared<const DatasetState>(state_, points, metric, std::move(checked_slices), cancel));
}
Dataset Engine::load(const DevicePointsView& points, std::span<const std::uint64_t> slices,
                     const CancelToken* cancel) const {
  auto checked_slices = std::make_shared<const Slices>(slices, points.size());
  return Dataset(std::make_shared<const DatasetState>(state_, points, std::move(checked_slices), cancel));
}
Dataset Engine::load(const DevicePointsView& points, const CancelToken* cancel) const {
  return Dataset(std::make_shared<const DatasetState>(state_, points, nullptr, cancel));
}
Catalog Engine::catalog(const DeviceCatalogInput& input, const CancelToken* cancel) const {
  auto* const device = dynamic_cast<DeviceCatalogs*>(state_->backend.get());
  if (device == nullptr) {
    throw UsageError(
        "the points are on a GPU, and the engine works on the CPU: make it with EngineOptions::backend = "
        "BackendChoice::gpu, or copy points and labels to the host");
  }
  const CancelToken stop(cancel);
  const EngineQueue::Lock engine_lock(state_->queue, stop);
  return device->catalog(input, stop);
}
std::string_view Engine::backend() const noexcept { return state_->backend->name(); }
const EngineOptions& Engine::options() const noexcept { return state_->options; }

}  // namespace epsflow
