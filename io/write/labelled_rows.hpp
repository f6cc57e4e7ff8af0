// The rows of the input in order, and which of them became points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// Names of the columns that a labelled file has beside those of the input.
inline constexpr const char* kLabelColumn = "label";
inline constexpr const char* kCoreColumn = "core";
inline constexpr const char* kRowColumn = "row";
/// What is written at a time, about.
inline constexpr std::size_t kLabelledBlockBytes = std::size_t{1} << 20;

/// What a labelled file is made of. All of it belongs to somebody else.
struct LabelledRows {
  const FilePoints& points;
  const VariantResult& result;
  const Metric& metric;
  bool core = false;  ///< whether the mask of core points is a column
};

/// Goes through the rows of all inputs, one file behind the other.
class RowWalker {
 public:
  struct Row {
    std::uint64_t number = 0;            ///< from 0, through all files
    std::optional<std::size_t> point{};  ///< that it became; nothing for a dropped row
  };

  explicit RowWalker(const std::vector<InputRows>& inputs) : inputs_(inputs) {}

  /// The next row, or nothing behind the last one.
  [[nodiscard]] std::optional<Row> next() noexcept {
    while (file_ < inputs_.size() && row_ == inputs_[file_].rows) {
      ++file_;
      row_ = 0;
      dropped_ = 0;
    }
    if (file_ == inputs_.size()) return std::nullopt;
    const std::vector<std::uint64_t>& dropped = inputs_[file_].dropped;
    const bool is_dropped = dropped_ < dropped.size() && dropped[dropped_] == row_;
    ++row_;
    if (is_dropped) {
      ++dropped_;
      return Row{number_++, std::nullopt};
    }
    return Row{number_++, point_++};
  }

  /// The next row that became a point.
  [[nodiscard]] std::optional<Row> next_point() noexcept {
    std::optional<Row> row = next();
    while (row && !row->point) row = next();
    return row;
  }

 private:
  const std::vector<InputRows>& inputs_;
  std::size_t file_ = 0;
  std::uint64_t row_ = 0;    ///< of the file
  std::size_t dropped_ = 0;  ///< of the file, before row_
  std::uint64_t number_ = 0;
  std::size_t point_ = 0;
};

}  // namespace epsflow::io
