// Points: n rows of d coordinates, float32 or float64, row-major, ids 0…n-1 in input order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/choices.hpp>

namespace epsflow {

enum class Precision : std::uint8_t { float32, float64 };
template <>
struct Choice<Precision> {
  static constexpr std::string_view kType = "Precision";
  static constexpr std::array kWords{Word{"float32", Precision::float32}, Word{"float64", Precision::float64}};
};

/// Returns the bytes of one coordinate.
[[nodiscard]] constexpr std::size_t bytes_of(Precision p) noexcept { return p == Precision::float32 ? 4 : 8; }

/// The most points and dimensions of a data set. The two largest 32-bit numbers are sentinels, not ids.
inline constexpr std::uint64_t kMaxPoints = 0xFFFFFFFEULL;
inline constexpr std::size_t kMaxDims = 4096;

/// A view of a data set. [host] [n × d], row-major.
class PointsView {
 public:
  PointsView() = default;
  /// Throws UsageError if data.size() is not a multiple of dims, dims is 0 or over kMaxDims, or n is over kMaxPoints.
  PointsView(std::span<const float> data, std::size_t dims);
  PointsView(std::span<const double> data, std::size_t dims);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{size_} * dims_ * bytes_of(precision_); }
  [[nodiscard]] const void* data() const noexcept { return data_; }

  /// Calls f with the coordinates as std::span<const float> or std::span<const double>, and returns its result.
  template <class F>
  decltype(auto) visit(F&& f) const {
    if (precision_ == Precision::float32) return f(std::span(static_cast<const float*>(data_), size_ * dims_));
    return f(std::span(static_cast<const double*>(data_), size_ * dims_));
  }

  /// Returns the points [first, last).
  [[nodiscard]] PointsView rows(std::size_t first, std::size_t last) const {
    return visit([&](auto values) { return PointsView(values.subspan(first * dims_, (last - first) * dims_), dims_); });
  }

  /// Returns coordinate k of point i, widened to float64.
  [[nodiscard]] double at(std::size_t i, std::size_t k) const noexcept {
    return precision_ == Precision::float32 ? static_cast<const float*>(data_)[i * dims_ + k]
                                            : static_cast<const double*>(data_)[i * dims_ + k];
  }

 private:
  PointsView(const void* data, std::size_t values, std::size_t dims, Precision precision);

  const void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t dims_ = 1;
  Precision precision_ = Precision::float64;
};

/// A data set with its storage, made by a reader or a generator. Move-only.
class Points {
 public:
  Points() = default;
  /// Makes n × d coordinates, not initialised. Throws UsageError for invalid sizes, ResourceError.
  Points(std::size_t n, std::size_t dims, Precision precision);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] PointsView view() const;
  operator PointsView() const { return view(); }  // NOLINT(google-explicit-constructor): functions take views

  /// Returns the coordinates, row-major, for filling. Throws Error if T is not the precision of the points.
  template <class T>
  [[nodiscard]] std::span<T> values();
  /// Returns the coordinates as bytes.
  [[nodiscard]] std::byte* data() noexcept { return storage_.data(); }

  /// Drops all rows from n on, and keeps their memory. Throws Error if n exceeds size().
  void truncate(std::size_t n);

 private:
  Buffer<std::byte> storage_;
  std::size_t size_ = 0;
  std::size_t dims_ = 1;
  Precision precision_ = Precision::float64;
};

/// Throws InputError naming the first row of [first, last) and the column that is NaN or infinite. O((last − first)·d).
void require_finite(PointsView points, std::size_t first, std::size_t last);
/// The same for all rows, in parallel.
void require_finite(PointsView points);
/// Throws the error of require_finite(), for callers that have found such a coordinate themselves.
[[noreturn]] void throw_not_finite(std::size_t row, std::size_t column, double value);

}  // namespace epsflow
