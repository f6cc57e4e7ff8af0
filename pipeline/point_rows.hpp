// The rows of a data set: in memory, or written by a source on request.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>

namespace epsflow {

/// Rows in memory or from a source. Thread-safe. The memory of the rows, or the source, must outlive it.
class PointRows {
 public:
  /// Takes a view, or an object that converts to one.
  template <class P>
  requires std::convertible_to<const P&, PointsView> PointRows(
      const P& points)  // NOLINT(google-explicit-constructor): they are rows
      : view_(points), size_(view_.size()), dims_(view_.dims()), precision_(view_.precision()) {}
  PointRows(const PointsSource& source)  // NOLINT(google-explicit-constructor): they are rows
      : source_(&source), size_(source.size), dims_(source.dims), precision_(source.precision) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return dims_ * bytes_of(precision_); }
  [[nodiscard]] bool in_memory() const noexcept { return source_ == nullptr; }
  /// Returns the rows of a data set that is in memory. Call it only if in_memory().
  [[nodiscard]] PointsView view() const noexcept { return view_; }
  /// Returns the source of rows that are not in memory, or null.
  [[nodiscard]] const PointsSource* source() const noexcept { return source_; }
  /// Returns the bytes of the rows that are in memory; 0 for a source.
  [[nodiscard]] std::uint64_t bytes_in_memory() const noexcept { return in_memory() ? view_.bytes() : 0; }

  /// Returns the rows [first, last). Rows from a source are written to `buffer`, which grows if needed; they are valid
  /// as long as `buffer` is unchanged.
  [[nodiscard]] const std::byte* rows(std::size_t first, std::size_t last, Buffer<std::byte>& buffer) const {
    if (in_memory()) return static_cast<const std::byte*>(view_.data()) + first * row_bytes();
    if (first == last) return buffer.data();
    if (buffer.size() < (last - first) * row_bytes()) buffer = Buffer<std::byte>((last - first) * row_bytes());
    source_->write(first, last, buffer.data());
    return buffer.data();
  }
  /// Calls f(T{}) with the type T of a coordinate.
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

/// Reads all rows into memory. Parallel. Throws as Points, and what source.write throws.
[[nodiscard]] Points bring(const PointsSource& source);
/// Throws ResourceError if there are more than kMaxPoints rows, the limit of one process.
void require_row_count(const PointRows& input);
/// Throws InputError if a coordinate is NaN or infinite. The error names the row and column of the first one. O(n·d).
void require_finite_rows(const PointRows& input);

}  // namespace epsflow
