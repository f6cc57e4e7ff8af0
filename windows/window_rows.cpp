#include <epsflow/windows/window_rows.hpp>

#include <algorithm>
#include <numeric>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::windows {
namespace {

constexpr std::size_t kRowPiece = 1 << 14;

}  // namespace

void WindowRows::change(const Arriving& arriving, std::span<const std::uint32_t> leaving) {
  const bool first_leave = leaving.empty() || leaving.back() + 1 == leaving.size();
  free_left();
  remember();
  entered_ = 0;
  gaps_.resize(leaving.size());
  left_.resize(leaving.size());
  parallel_ranges(leaving.size(), kRowPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      gaps_[i] = leaving[i] - i;
      left_[i] = rows_[begin_ + leaving[i]];
    }
  });
  if (!first_leave) {
    before_.assign(rows_.begin(), rows_.end());
    undo_.has_before = true;
  }
  append(arriving);
  if (first_leave) {
    begin_ += leaving.size();
  } else {
    erase(leaving);
  }
}

void WindowRows::append(const Arriving& arriving) {
  const std::size_t count = arriving.entering.size();
  const std::size_t reused = std::min(count, free_.size() - next_free_);
  const std::size_t handles = ids_.size() + (count - reused);
  (void)narrow<std::uint32_t>(handles, "the number of points");
  ids_.resize(handles);
  x_.resize(handles * dims_);
  if (timed_) times_.resize(handles);
  if (weighted_) weights_.resize(handles);
  const std::size_t first = rows_.size();
  rows_.resize(first + count);
  std::copy_n(free_.begin() + static_cast<std::ptrdiff_t>(next_free_), reused,
              rows_.begin() + static_cast<std::ptrdiff_t>(first));
  std::iota(rows_.begin() + static_cast<std::ptrdiff_t>(first + reused), rows_.end(),
            static_cast<std::uint32_t>(undo_.handles));
  next_free_ += reused;
  entered_ = count;
  arriving.points.visit([&](auto values) {
    parallel_ranges(count, kRowPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        const std::size_t i = arriving.entering[j];
        const std::size_t handle = rows_[first + j];
        for (std::size_t k = 0; k < dims_; ++k) x_[handle * dims_ + k] = static_cast<double>(values[i * dims_ + k]);
        ids_[handle] = arriving.ids.empty() ? arriving.first_id + i : arriving.ids[i];
        if (timed_) times_[handle] = arriving.times[i];
        if (weighted_) weights_[handle] = arriving.weights[i];
      }
    });
  });
  if (!timed_) return;
  for (const std::uint32_t i : arriving.entering) {
    if (arriving.times[i] < last_time_) times_in_order_ = false;
    last_time_ = std::max(last_time_, arriving.times[i]);
  }
}

void WindowRows::erase(std::span<const std::uint32_t> leaving) noexcept {
  std::size_t to = begin_ + leaving.front();
  std::size_t next = 0;
  for (std::size_t from = to; from < rows_.size(); ++from) {
    if (next < leaving.size() && from == begin_ + leaving[next]) {
      ++next;
    } else {
      rows_[to++] = rows_[from];
    }
  }
  rows_.resize(to);
}

void WindowRows::commit() noexcept {
  committed_ = true;
  remember();
}

void WindowRows::free_left() {
  if (!committed_) return;
  free_.insert(free_.end(), left_.begin(), left_.end());
  committed_ = false;
  if (2 * next_free_ > free_.size()) {
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(next_free_));
    next_free_ = 0;
  }
  if (2 * begin_ > rows_.size()) {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

void WindowRows::remember() noexcept {
  undo_ = {.begin = begin_,
           .rows = rows_.size(),
           .handles = ids_.size(),
           .next_free = next_free_,
           .times_in_order = times_in_order_,
           .last_time = last_time_};
}

void WindowRows::undo() noexcept {
  if (undo_.has_before) rows_.swap(before_);
  rows_.resize(undo_.rows);
  begin_ = undo_.begin;
  next_free_ = undo_.next_free;
  ids_.resize(undo_.handles);
  x_.resize(undo_.handles * dims_);
  if (timed_) times_.resize(undo_.handles);
  if (weighted_) weights_.resize(undo_.handles);
  times_in_order_ = undo_.times_in_order;
  last_time_ = undo_.last_time;
  entered_ = 0;
  if (!committed_) left_.clear();
  gaps_.clear();
  remember();
}

std::optional<std::uint32_t> WindowRows::find(std::uint64_t id) const noexcept {
  const auto rows = handles();
  const auto at = std::lower_bound(rows.begin(), rows.end(), id,
                                   [&](std::uint32_t handle, std::uint64_t value) { return ids_[handle] < value; });
  if (at == rows.end() || ids_[*at] != id) return std::nullopt;
  return static_cast<std::uint32_t>(at - rows.begin());
}

void WindowRows::list_before(double oldest, std::vector<std::uint32_t>& rows) {
  const auto handles = this->handles();
  if (times_in_order_) {
    const auto end = std::lower_bound(handles.begin(), handles.end(), oldest,
                                      [&](std::uint32_t handle, double time) { return times_[handle] < time; });
    const std::size_t before = rows.size();
    rows.resize(before + static_cast<std::size_t>(end - handles.begin()));
    std::iota(rows.begin() + static_cast<std::ptrdiff_t>(before), rows.end(), std::uint32_t{0});
    return;
  }
  bool in_order = true;
  double last = -std::numeric_limits<double>::infinity();
  for (std::uint32_t row = 0; row < handles.size(); ++row) {
    const double time = times_[handles[row]];
    if (time < oldest) {
      rows.push_back(row);
      continue;
    }
    in_order = in_order && time >= last;
    last = time;
  }
  // These rows may stay nevertheless if the step fails: then they are before the others, and still in order only if
  // none of them leaves.
  times_in_order_ = in_order && rows.empty();
}

void WindowRows::write_points(std::span<double> out) const {
  const auto rows = handles();
  parallel_ranges(rows.size(), kRowPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::copy_n(point(rows[i]), dims_, out.data() + i * dims_);
  });
}

std::vector<double> WindowRows::in_order(const std::vector<double>& by_handle) const {
  std::vector<double> all;
  if (by_handle.empty()) return all;
  for (const std::uint32_t handle : handles()) all.push_back(by_handle[handle]);
  return all;
}

}  // namespace epsflow::windows
