#include <epsflow/windows/window_rows.hpp>

#include <algorithm>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::windows {
namespace {

constexpr std::size_t kRowPiece = 1 << 14;

}  // namespace

std::uint32_t WindowRows::take_handle() {
  if (next_free_ < free_.size()) return free_[next_free_++];
  ++new_handles_;
  const auto handle = narrow<std::uint32_t>(ids_.size(), "the number of points");
  ids_.push_back(0);
  x_.resize(x_.size() + dims_);
  if (timed_) times_.push_back(0);
  if (weighted_) weights_.push_back(0);
  return handle;
}

void WindowRows::change(const Arriving& arriving, std::span<const std::uint32_t> leaving) {
  left_.clear();
  entered_ = 0;
  new_handles_ = 0;
  saved_ = false;
  const bool first_leave = leaving.empty() || leaving.back() + 1 == leaving.size();
  gaps_.clear();
  for (const std::uint32_t row : leaving) {
    gaps_.push_back(row - left_.size());
    left_.push_back(rows_[begin_ + row]);
  }
  if (!first_leave) {
    before_.assign(rows_.begin(), rows_.end());
    saved_ = true;
  }
  for (const std::uint32_t i : arriving.entering) {
    const std::uint32_t handle = take_handle();
    for (std::size_t k = 0; k < dims_; ++k) x_[handle * dims_ + k] = arriving.points.at(i, k);
    ids_[handle] = arriving.ids[i];
    if (timed_) {
      times_[handle] = arriving.times[i];
      if (times_[handle] < last_time_) times_in_order_ = false;
      last_time_ = std::max(last_time_, times_[handle]);
    }
    if (weighted_) weights_[handle] = arriving.weights[i];
    rows_.push_back(handle);
    ++entered_;
  }
  if (first_leave) {
    begin_ += leaving.size();
    return;
  }
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

void WindowRows::commit() {
  free_.insert(free_.end(), left_.begin(), left_.end());
  if (2 * next_free_ > free_.size()) {
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(next_free_));
    next_free_ = 0;
  }
  if (2 * begin_ > rows_.size()) {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

void WindowRows::undo() noexcept {
  // New handles were taken after all free ones.
  next_free_ -= entered_ - new_handles_;
  ids_.resize(ids_.size() - new_handles_);
  x_.resize(ids_.size() * dims_);
  if (timed_) times_.resize(ids_.size());
  if (weighted_) weights_.resize(ids_.size());
  if (saved_) {
    rows_.swap(before_);
  } else {
    rows_.resize(rows_.size() - entered_);
    begin_ -= left_.size();
  }
  entered_ = 0;
  left_.clear();
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
    for (std::uint32_t row = 0; row < end - handles.begin(); ++row) rows.push_back(row);
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

std::vector<double> WindowRows::all_times() const {
  std::vector<double> all;
  if (timed_) {
    for (const std::uint32_t handle : handles()) all.push_back(times_[handle]);
  }
  return all;
}

std::vector<double> WindowRows::all_weights() const {
  std::vector<double> all;
  if (weighted_) {
    for (const std::uint32_t handle : handles()) all.push_back(weights_[handle]);
  }
  return all;
}

}  // namespace epsflow::windows
