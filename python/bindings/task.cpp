#include "task.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::python {

void Task::Channel::put(VariantResult&& result) {
  const std::scoped_lock lock(mutex_);
  results_.push_back(std::move(result));
}

void Task::Channel::put(Give give) {
  const std::scoped_lock lock(mutex_);
  give_ = std::move(give);
}

Task::Task(std::function<void(const Observer&, Channel&)> work)
    : thread_([this, work = std::move(work)] {
        Observer observer;
        observer.cancel = &cancel_;
        observer.on_progress = [this](const Progress& progress) {
          const std::scoped_lock lock(channel_.mutex_);
          channel_.progress_ = progress;
        };
        observer.on_notice = [this](const std::string& notice) {
          const std::scoped_lock lock(channel_.mutex_);
          channel_.notices_.push_back(notice);
        };
        std::exception_ptr failure;
        try {
          work(observer, channel_);
        } catch (...) {
          failure = std::current_exception();
        }
        const std::scoped_lock lock(channel_.mutex_);
        channel_.failure_ = failure;
        channel_.ended_ = true;
        channel_.ended_condition_.notify_all();
      }) {}

Task::~Task() { cancel_.cancel(); }

bool Task::wait(std::chrono::duration<double> time) {
  std::unique_lock lock(channel_.mutex_);
  channel_.ended_condition_.wait_for(lock, time, [this] { return channel_.ended_; });
  if (channel_.failure_ != nullptr) std::rethrow_exception(channel_.failure_);
  return channel_.ended_;
}

std::vector<VariantResult> Task::take_results() {
  const std::scoped_lock lock(channel_.mutex_);
  return std::exchange(channel_.results_, {});
}

nb::object Task::take() {
  Give give;
  {
    const std::scoped_lock lock(channel_.mutex_);
    give = std::exchange(channel_.give_, nullptr);
  }
  if (!give) throw Error("the task has nothing to give: it has not ended, or gave it already");
  return give();
}

std::vector<std::string> Task::take_notices() {
  const std::scoped_lock lock(channel_.mutex_);
  return std::exchange(channel_.notices_, {});
}

Progress Task::progress() const {
  const std::scoped_lock lock(channel_.mutex_);
  return channel_.progress_;
}

}  // namespace epsflow::python
