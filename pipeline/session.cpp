#include <epsflow/pipeline/session.hpp>

#include <chrono>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {

EngineQueue::Lock::Lock(EngineQueue& queue, const CancelToken& cancel) : queue_(queue), ticket_(queue.join()) {
  // A turn that ends wakes the next at once. Cancelling cannot, because signal handlers cancel too, so it is polled.
  constexpr std::chrono::milliseconds kLook{20};
  std::unique_lock lock(queue.mutex_);
  while (queue.waiting_.front() != ticket_) {
    if (cancel.cancelled()) {
      lock.unlock();
      queue.leave(ticket_);
      throw Cancelled();
    }
    queue.moved_.wait_for(lock, kLook);
  }
}

std::uint64_t EngineQueue::join() {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(next_ticket_);
  return next_ticket_++;
}

void EngineQueue::leave(std::uint64_t ticket) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    std::erase(waiting_, ticket);
  }
  moved_.notify_all();
}

Session::Session(const Dataset& data, const RunOptions& options, const Observer& observer)
    : data_(*data.state_),
      weights_(data.weights_.get()),
      engine_(*data_.engine),
      options_(options),
      observer_(observer),
      stop_(observer.cancel),
      lock_(engine_.queue, stop_) {
  check_options(options_);
  if (options_.labels == MemorySpace::device && engine_.backend->name() == "cpu") {
    throw UsageError("RunOptions::labels asks for labels on a GPU, and the engine runs on the CPU");
  }
  check_weights(options_, weights_ != nullptr && weights_->loaded.whole.negative());
}

void Session::require_one_slice(const char* what) const {
  if (points().space().slices == nullptr) return;
  throw UsageError(std::string(what) + " takes one data set, and this one is in slices: load each slice by itself");
}

double Session::radius(double eps) const {
  data_.fit.require_fit(eps);
  return transformed_radius(data_.metric, eps);
}

std::vector<stages::EpsGroup> Session::groups(const Sweep& sweep) const {
  for (const Variant& variant : sweep.variants()) data_.fit.require_fit(variant.eps);
  return stages::group_by_eps(sweep, data_.metric);
}

FlowContext Session::context() {
  return {*data_.points, weights(), options_, observer_, *engine_.backend, engine_.pool, threads(), stop_};
}

void Session::run(std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer, MoreGroups more) {
  on_threads([&] { run_flow(context(), std::move(groups), consumer, std::move(more)); });
}

void Session::run_on(const LoadedPoints& points, const LoadedWeights* weights, const RunOptions& options,
                     CancelToken& stop, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer) {
  const Observer nobody;
  run_flow({points, weights, options, nobody, *engine_.backend, engine_.pool, threads(), stop}, std::move(groups),
           consumer);
}

void Session::on_threads(const std::function<void()>& body) {
  engine_.arena.execute([&] { body(); });
}

}  // namespace epsflow
