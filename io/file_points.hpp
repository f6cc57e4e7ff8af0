// Points and where they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// What masses are called as a column of a snapshot.
inline constexpr std::string_view kMassColumn = "Masses";

/// One file of a data set: its rows, and which of them are no points.
struct InputRows {
  std::string name = {};   ///< as the caller named the file
  std::string kind = {};   ///< what it was read as, guesses included: "text, comma, header in line 1"
  std::uint64_t rows = 0;  ///< rows of data that the file holds, or that the share of it holds (ReadOptions::share)
  /// Rows left out because a coordinate or weight was NaN, infinite or missing; ascending, from 0.
  std::vector<std::uint64_t> dropped = {};
  std::string stamp = {};   ///< fingerprint from before it was read (inode, size, times of change); empty for a pipe
  std::uint64_t first = 0;  ///< the first of the rows, in the count of the file: 0 but for a share
  /// The unit of each column that became a coordinate, in the words of the file: d of them, empty where the file says none. Of text
  /// that has a row of units, and of FITS; of other kinds an empty list.
  std::vector<std::string> units = {};
  std::uint64_t pieces = 1;  ///< files that a snapshot is in, of which this is one, in the words of the file
};

/// Where points come from.
struct PointsOrigin {
  /// Names of the columns that became coordinates, d of them, or empty when the source has none.
  std::vector<std::string> column_names;
  /// Which columns of the source these are, counted from 0: d of them, or empty for points that were not read.
  std::vector<std::size_t> column_numbers;
  /// The name of the column that weights are from, or its number where it has none; empty without weights.
  std::string weight_column;
  /// Of a snapshot in a periodic box: d sides, from 0 on, with 0 for a coordinate that is none of its positions; else empty.
  std::vector<double> box;
  bool has_masses = false;  ///< a snapshot that has masses, whether they were read or not: its column kMassColumn
  /// The files that the points were read from, in order; empty for points that were not read.
  std::vector<InputRows> inputs;

  /// Rows of all inputs that were dropped.
  [[nodiscard]] std::uint64_t dropped_rows() const noexcept {
    std::uint64_t sum = 0;
    for (const InputRows& input : inputs) sum += input.dropped.size();
    return sum;
  }
  /// Whether rows were dropped, several files were joined, or the rows are a share. If not, point i is row i of the only file.
  [[nodiscard]] bool renumbered() const noexcept {
    return inputs.size() > 1 || dropped_rows() > 0 || (!inputs.empty() && inputs.front().first > 0);
  }
};

/// Points and where they come from, as a reader or a generator makes them. A function that takes Points takes these, too.
/// Move-only.
class FilePoints : public Points, public PointsOrigin {
 public:
  using Points::Points;

  /// [n] The weights of the points, finite; empty where ReadOptions::weight asks for none.
  std::vector<double> weights;
};

}  // namespace epsflow::io
