#include <epsflow/pipeline/job.hpp>

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

struct Job::State {
  explicit State(const CancelToken* parent) : cancel(parent) {}

  CancelToken cancel;
  std::future<std::vector<VariantResult>> future;
  std::jthread thread;  // last: it uses the members above
};

Job::Job(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&& other) noexcept {
  Job taken(std::move(other));
  std::swap(state_, taken.state_);
  return *this;
}
Job::~Job() { cancel(); }

bool Job::wait_for(std::chrono::nanoseconds time) const {
  if (state_ == nullptr || !state_->future.valid()) return true;
  constexpr std::chrono::hours kLongest{24 * 365};  // clocks overflow beyond this
  return state_->future.wait_for(std::min<std::chrono::nanoseconds>(time, kLongest)) == std::future_status::ready;
}

void Job::cancel() noexcept {
  if (state_ != nullptr) state_->cancel.cancel();
}

std::vector<VariantResult> Job::results() {
  if (state_ == nullptr || !state_->future.valid()) throw Error("the results of this job have been taken already");
  state_->thread.join();  // releases the data set
  return state_->future.get();
}

Job start(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
          std::function<void(VariantResult&&)> on_result) {
  auto state = std::make_unique<Job::State>(observer.cancel);
  Observer watched = observer;
  watched.cancel = &state->cancel;
  std::packaged_task<std::vector<VariantResult>()> task(
      [data, sweep, options, watched = std::move(watched), on_result = std::move(on_result)] {
        if (!on_result) return run(data, sweep, options, watched);
        run_dataset(data, sweep, on_result, options, watched);
        return std::vector<VariantResult>{};
      });
  state->future = task.get_future();
  try {
    state->thread = std::jthread(std::move(task));
  } catch (const std::system_error&) {
    throw ResourceError("the system refuses a thread for a run in the background: raise ulimit -u, or use run()");
  }
  return Job(std::move(state));
}

}  // namespace epsflow
