// Checks what a reader puts as its parent process would, and aborts if the parent would refuse it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/points_sink.hpp>

namespace epsflow::fuzz {

/// Readers that use a library run in this process here: the fuzzer would see neither coverage nor faults of a child.
class CheckingSink final : public io::PointsSink {
 public:
  explicit CheckingSink(const io::Source& source) : source_(source) {}

  void begin(const io::PointsShape& shape) override {
    if (has_begun_) std::abort();
    has_begun_ = true;
    const io::Source remaining{
        .name = source_.name, .options = source_.options, .memory_taken = source_.memory_taken + shape.memory_taken};
    points_ = make_points(remaining, shape.rows, shape.columns.size(), shape.precision);
    columns_ = shape.columns;
    set_columns(points_, columns_);
  }

  /// Returns the points. Aborts if a value has not been put.
  io::FilePoints take() {
    if (!has_begun_ || values_ != points_.size() * points_.dims()) std::abort();
    finish_points(points_, columns_, source_);
    return std::move(points_);
  }

 private:
  void put(std::uint64_t first, std::uint64_t coordinate, std::span<const std::byte> values) override {
    points_.precision() == Precision::float32 ? put_as<float>(first, coordinate, values)
                                              : put_as<double>(first, coordinate, values);
  }

  template <class T>
  void put_as(std::uint64_t first, std::uint64_t coordinate, std::span<const std::byte> bytes) {
    const bool is_rows = coordinate == kAllCoordinates;
    const std::size_t dims = points_.dims();
    const std::size_t count = bytes.size() / sizeof(T);
    const std::size_t rows = is_rows ? count / dims : count;
    if (!has_begun_ || first > points_.size() || rows > points_.size() - first || (!is_rows && coordinate >= dims)) {
      std::abort();
    }
    T* const to = points_.values<T>().data() + first * dims;
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(is_rows ? to + i : to + i * dims + coordinate, bytes.data() + i * sizeof(T), sizeof(T));
    }
    values_ += count;
  }

  const io::Source& source_;
  io::FilePoints points_;
  std::vector<io::ElementChoice> columns_;
  std::uint64_t values_ = 0;
  bool has_begun_ = false;
};

}  // namespace epsflow::fuzz
