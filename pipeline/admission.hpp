// Admission decides which group of a run (an eps with its minpts) starts next, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/core/memory.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow {

/// The turn of a group. It ends when all variants are clustered, or when memory runs out. Thread-safe.
class GroupTicket {
 public:
  explicit GroupTicket(bool exclusive) noexcept : exclusive_(exclusive) {}

  /// Returns true if the group has the memory to itself until its table, or its counts, are made. If even then memory
  /// is too small, a retry cannot help.
  [[nodiscard]] bool exclusive() const noexcept { return exclusive_; }

  /// Records that memory ran out, so that the group is started again.
  void starve() noexcept { starved_ = true; }
  /// Records that memory did not suffice for the table. If the group was exclusive, it is started again without a
  /// table.
  void starve_of_table() noexcept {
    if (exclusive_) table_refused_ = true;
    starve();
  }
  [[nodiscard]] bool starved() const noexcept { return starved_; }
  [[nodiscard]] bool table_refused() const noexcept { return table_refused_; }

 private:
  const bool exclusive_;
  std::atomic<bool> starved_{false};
  std::atomic<bool> table_refused_{false};
};

/// Takes the next group from a list that several runs share; nullopt if none is left. ahead: this run has groups in
/// flight; then it may return nullopt even if groups are left. Thread-safe.
using MoreGroups = std::function<std::optional<stages::EpsGroup>(bool ahead)>;

/// Lets groups begin. Thread-safe.
///
/// Call complete() when a group of next() is prepared, unless it was starved before. Call end() when a group is over,
/// starved or not. Call next() again after each of these, until it returns nullopt.
///
/// A group that was starved is started again, exclusively. Only an exclusive group may report that the budget is too
/// small. The first group is exclusive, too.
class Admission {
 public:
  /// groups: in descending order of eps. most: the most groups in flight at once. more: called for further groups once
  /// these have started; may be null.
  Admission(std::vector<stages::EpsGroup> groups, unsigned most, const ArenaPool& pool, MoreGroups more = nullptr)
      : waiting_(std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end())),
        most_(most),
        pool_(pool),
        more_(std::move(more)) {}

  struct Admitted {
    stages::EpsGroup group;
    bool exclusive = false;
  };
  /// Returns the next group if there is one and it may start now; else nullopt. A group may start if none is in flight.
  /// Otherwise it may start if it is not exclusive, no exclusive group is being prepared, fewer than `most` groups are
  /// in flight, and more memory is available than the last prepared group took. Throws what `more` throws.
  std::optional<Admitted> next() {
    const std::scoped_lock lock(mutex_);
    if (exclusive_running_) return std::nullopt;
    // As groups come in descending order of eps, the next one rarely takes more memory than the last one.
    const bool fits = !exclusive_next_ && in_flight_ < most_ && pool_.available() > last_bytes_;
    if (in_flight_ > 0 && !fits) return std::nullopt;
    if (waiting_.empty() && more_) {
      if (std::optional<stages::EpsGroup> group = more_(in_flight_ > 0)) {
        waiting_.push_back(*std::move(group));
      } else if (in_flight_ == 0) {
        more_ = nullptr;
      }
    }
    if (waiting_.empty()) return std::nullopt;
    exclusive_running_ = std::exchange(exclusive_next_, false);
    Admitted admitted{std::move(waiting_.front()), exclusive_running_};
    waiting_.pop_front();
    ++in_flight_;
    return admitted;
  }
  /// Call it when the preparation of a group is complete, so that the next may start. bytes: the memory that it took.
  void complete(const GroupTicket& ticket, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    last_bytes_ = bytes;
    if (ticket.exclusive()) exclusive_running_ = false;
  }
  /// Call it when the turn is over and the group's memory is free again. A starved group is next, and exclusive: it
  /// starts once no other group is in flight.
  void end(const GroupTicket& ticket, stages::EpsGroup group) {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
    if (!ticket.starved()) return;
    if (ticket.exclusive()) exclusive_running_ = false;
    if (ticket.table_refused()) group.table_refused = true;
    waiting_.push_front(std::move(group));
    exclusive_next_ = true;
  }
  /// Returns true if every group is finished, groups of `more` included.
  [[nodiscard]] bool done() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty() && in_flight_ == 0 && !more_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<stages::EpsGroup> waiting_;
  unsigned most_;
  const ArenaPool& pool_;
  MoreGroups more_;  ///< null once it has returned no more groups
  unsigned in_flight_ = 0;
  bool exclusive_next_ = true;
  bool exclusive_running_ = false;
  std::uint64_t last_bytes_ = 0;
};

}  // namespace epsflow
