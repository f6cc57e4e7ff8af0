// Which group goes next, and when.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/core/memory.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow {

/// Lets groups begin.
///
/// A group that runs out of memory beside others is started again, exclusively: alone, and nobody joins until its preparation
/// (of its table, or of the counts that it is clustered with) is complete. Only an exclusive one may say that the budget is too
/// small. The first is exclusive anyway, being the largest.
class Admission {
 public:
  Admission(std::vector<stages::EpsGroup> groups, unsigned most, const ArenaPool& pool)
      : waiting_(std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end())),
        most_(most),
        pool_(pool) {}

  struct Admitted {
    stages::EpsGroup group;
    bool exclusive = false;
  };
  /// The next group if there is one and it may start now.
  std::optional<Admitted> next() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty() || exclusive_running_) return std::nullopt;
    // Groups come in descending order of eps, so the next one hardly takes more memory than the last one.
    const bool room = !exclusive_next_ && in_flight_ < most_ && pool_.available() > last_bytes_;
    if (in_flight_ > 0 && !room) return std::nullopt;
    exclusive_running_ = std::exchange(exclusive_next_, false);
    Admitted admitted{std::move(waiting_.front()), exclusive_running_};
    waiting_.pop_front();
    ++in_flight_;
    return admitted;
  }
  /// The preparation of a group is complete; the group took so many bytes.
  void complete(bool exclusive, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    last_bytes_ = bytes;
    if (exclusive) exclusive_running_ = false;
  }
  /// The group's memory is free again.
  void finished() {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
  }
  /// The group ran out of memory, and its memory is free again: it is next, and exclusive.
  void starved(stages::EpsGroup group, bool exclusive) {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
    if (exclusive) exclusive_running_ = false;
    waiting_.push_front(std::move(group));
    exclusive_next_ = true;
  }
  /// Whether every group has been through.
  [[nodiscard]] bool done() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty() && in_flight_ == 0;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<stages::EpsGroup> waiting_;
  unsigned most_;
  const ArenaPool& pool_;
  unsigned in_flight_ = 0;
  bool exclusive_next_ = true;
  bool exclusive_running_ = false;
  std::uint64_t last_bytes_ = 0;
};

}  // namespace epsflow
