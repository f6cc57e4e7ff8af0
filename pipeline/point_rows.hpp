// The rows of a data set, where they are: in memory, or wherever a source brings them from.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>

namespace epsflow {

/// Thread-safe. What it is made of must outlive it.
class PointRows {
 public:
  /// Of a view, or of what has one.
  template <class P>
  requires std::convertible_to<const P&, PointsView> PointRows(
      const P& points)  // NOLINT(google-explicit-constructor): they are rows
      : view_(points), size_(view_.size()), dims_(view_.dims()), precision_(view_.precision()) {}
  PointRows(const PointsSource& source)  // NOLINT(google-explicit-constructor): likewise
      : source_(&source), size_(source.size), dims_(source.dims), precision_(source.precision) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return dims_ * bytes_of(precision_); }
  [[nodiscard]] bool in_memory() const noexcept { return source_ == nullptr; }
  /// Where they are in memory.
  [[nodiscard]] PointsView view() const noexcept { return view_; }
  /// Returns the source of rows that are not in memory, or null.
  [[nodiscard]] const PointsSource* source() const noexcept { return source_; }
  /// Bytes that they take there.
  [[nodiscard]] std::uint64_t bytes_in_memory() const noexcept { return in_memory() ? view_.bytes() : 0; }

  /// The rows [first, last), valid as long as room is, which grows where they have to be brought.
  [[nodiscard]] const std::byte* rows(std::size_t first, std::size_t last, Buffer<std::byte>& room) const {
    if (in_memory()) return static_cast<const std::byte*>(view_.data()) + first * row_bytes();
    if (first == last) return room.data();
    if (room.size() < (last - first) * row_bytes()) room = Buffer<std::byte>((last - first) * row_bytes());
    source_->write(first, last, room.data());
    return room.data();
  }
  /// Calls f(T{}), T being the type of a coordinate.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return precision_ == Precision::float32 ? f(float{}) : f(double{});
  }

 private:
  PointsView view_;
  const PointsSource* source_ = nullptr;
  std::size_t size_;
  std::size_t dims_;
  Precision precision_;
};

/// All of them, in memory. In parallel.
[[nodiscard]] Points bring(const PointsSource& source);
/// Throws ResourceError if there are more rows than one process takes.
void require_row_count(const PointRows& input);
/// Throws InputError naming the first row and column that are NaN or infinite. O(n·d).
void require_finite_rows(const PointRows& input);

}  // namespace epsflow
