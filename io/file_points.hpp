// Points and their origin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow::io {

/// The name of the column of masses in a snapshot.
inline constexpr std::string_view kMassColumn = "Masses";

/// One file of a data set: its rows, and the rows that did not become points.
struct InputRows {
  std::string name = {};   ///< the file as the caller named it
  std::string kind = {};   ///< format and layout, guesses included: "text, comma, header in line 1"
  std::uint64_t rows = 0;  ///< rows of data in the file, or in the share of it that was read (ReadOptions::share)
  /// The numbers of the rows that were left out because a coordinate or weight was NaN, infinite or missing, or because
  /// drop_points() removed their points; ascending. They count from 0 at the first row of the file, even if only a
  /// share was read.
  std::vector<std::uint64_t> dropped = {};
  /// Fingerprint from before the file was read (inode, size, times of change); empty for a pipe.
  std::string stamp = {};
  std::uint64_t first = 0;  ///< number of the first row in the file; 0 unless a share was read
  /// [d] The unit of each coordinate column as the file spells it; an element is empty if its column has no unit. The
  /// list is empty except for text with a row of units, and for FITS if one of these columns has a unit.
  std::vector<std::string> units = {};
  std::uint64_t pieces = 1;  ///< number of files that the snapshot is split into, as the header of this file states it
  std::uint64_t after = 0;   ///< rows of the file after the share that was read; 0 if no share was read
};

/// The origin of points: columns, files and the periodic box.
struct PointsOrigin {
  /// [d] Names of the columns that became coordinates; empty if the source has no names. A column whose name is empty
  /// is left out of the list.
  std::vector<std::string> column_names;
  /// [d] Numbers of these columns in the source, from 0; empty for points that were not read.
  std::vector<std::size_t> column_numbers;
  /// The name of the weight column, or its number if it has no name; empty without weights.
  std::string weight_column;
  /// [d] The side of a snapshot's periodic box along each coordinate, or 0 if the coordinate is not a position. The box
  /// begins at 0. The list is empty if there is no such box, or if no coordinate is a position.
  std::vector<double> box;
  bool has_masses = false;  ///< true if the file is a snapshot with masses (column kMassColumn), read or not
  /// The files that the points were read from, in order; empty for points that were not read.
  std::vector<InputRows> inputs;

  /// Number of dropped rows of all inputs.
  [[nodiscard]] std::uint64_t dropped_rows() const noexcept {
    std::uint64_t sum = 0;
    for (const InputRows& input : inputs) sum += input.dropped.size();
    return sum;
  }
  /// True if rows were dropped, files were joined, or a share was read that does not begin at row 0. If not, point i of
  /// points that were read is row i of the only file.
  [[nodiscard]] bool renumbered() const noexcept {
    return inputs.size() > 1 || dropped_rows() > 0 || (!inputs.empty() && inputs.front().first > 0);
  }
};

/// Points and their origin, as a reader or a generator makes them. Functions that take Points accept them. Move-only.
class FilePoints : public Points, public PointsOrigin {
 public:
  using Points::Points;

  /// [n] The weights of the points. A reader makes them finite, and leaves the list empty unless ReadOptions::weight
  /// names a column.
  std::vector<double> weights;
};

}  // namespace epsflow::io
