#include <epsflow/core/points.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

void require_shape(std::uint64_t n, std::size_t dims) {
  if (dims == 0 || dims > kMaxDims) {
    throw UsageError("points have " + std::to_string(dims) + " dimensions; 1 to " + std::to_string(kMaxDims) +
                     " are possible");
  }
  if (n > kMaxPoints) {
    throw UsageError(std::to_string(n) + " points; at most " + std::to_string(kMaxPoints) +
                     " are possible: split the data set");
  }
}

}  // namespace

PointsView::PointsView(const void* data, std::size_t values, std::size_t dims, Precision precision)
    : data_(data), size_(dims == 0 ? 0 : values / dims), dims_(dims), precision_(precision) {
  require_shape(size_, dims);
  if (values % dims != 0) {
    throw UsageError(std::to_string(values) + " coordinates are no whole number of points in " + std::to_string(dims) +
                     " dimensions");
  }
}

PointsView::PointsView(std::span<const float> data, std::size_t dims)
    : PointsView(data.data(), data.size(), dims, Precision::float32) {}

PointsView::PointsView(std::span<const double> data, std::size_t dims)
    : PointsView(data.data(), data.size(), dims, Precision::float64) {}

DevicePointsView::DevicePointsView(const void* data, std::size_t n, std::size_t dims, Precision precision,
                                   DeviceStream device_stream)
    : data_(data), size_(n), dims_(dims), precision_(precision), device_stream_(device_stream) {
  require_shape(n, dims);
  if (data == nullptr && n > 0) throw UsageError("points on a GPU need a pointer to their coordinates; it is null");
}

Points::Points(std::size_t n, std::size_t dims, Precision precision) : size_(n), dims_(dims), precision_(precision) {
  require_shape(n, dims);
  storage_ = Buffer<std::byte>(checked_multiply(n, dims * bytes_of(precision), "points"));
}

PointsView Points::view() const {
  if (precision_ == Precision::float32) {
    return {std::span(reinterpret_cast<const float*>(storage_.data()), size_ * dims_), dims_};
  }
  return {std::span(reinterpret_cast<const double*>(storage_.data()), size_ * dims_), dims_};
}

template <>
std::span<float> Points::values<float>() {
  if (precision_ != Precision::float32) throw Error("the points are float64, not float32");
  return {reinterpret_cast<float*>(storage_.data()), size_ * dims_};
}

template <>
std::span<double> Points::values<double>() {
  if (precision_ != Precision::float64) throw Error("the points are float32, not float64");
  return {reinterpret_cast<double*>(storage_.data()), size_ * dims_};
}

void Points::truncate(std::size_t n) {
  if (n > size_) throw Error("cannot truncate " + std::to_string(size_) + " points to " + std::to_string(n));
  size_ = n;
}

void throw_not_finite(std::size_t row, std::size_t column, double value) {
  throw InputError("row " + std::to_string(row) + ", column " + std::to_string(column) + " is " +
                   std::to_string(value) + "; clustering needs finite coordinates: drop such rows before clustering");
}

namespace {

/// Returns the index of the first value that is NaN or infinite in [first, end), or `end`.
template <class T>
std::size_t find_not_finite(std::span<const T> values, std::size_t first, std::size_t end) {
  // x - x is 0 for finite x and NaN otherwise: one vectorised sum shows whether a search is needed.
  constexpr std::size_t kBlock = 4096;
  for (; first < end; first += kBlock) {
    const std::size_t last = std::min(end, first + kBlock);
    bool finite = true;
    for (std::size_t i = first; i < last; ++i) finite &= values[i] - values[i] == 0;
    if (finite) continue;
    for (std::size_t i = first; i < last; ++i) {
      if (!std::isfinite(values[i])) return i;
    }
  }
  return end;
}

}  // namespace

void require_finite(PointsView points, std::size_t first, std::size_t last) {
  points.visit([&](auto values) {
    const std::size_t dims = points.dims();
    const std::size_t found = find_not_finite(values, first * dims, last * dims);
    if (found < last * dims) throw_not_finite(found / dims, found % dims, values[found]);
  });
}

void require_finite(PointsView points) {
  constexpr std::size_t kRows = 1 << 15;
  std::atomic<std::size_t> first_bad{points.size()};  // a row not after the first with such a value
  parallel_ranges(points.size(), kRows, [&](std::size_t begin, std::size_t end) {
    const bool finite = points.visit([&](auto values) {
      return find_not_finite(values, begin * points.dims(), end * points.dims()) == end * points.dims();
    });
    if (finite) return;
    std::size_t known = first_bad.load();
    while (begin < known && !first_bad.compare_exchange_weak(known, begin)) {
    }
  });
  require_finite(points, first_bad, points.size());
}

}  // namespace epsflow
