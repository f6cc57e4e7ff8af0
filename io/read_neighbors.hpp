// Reading a neighbour table from a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/neighbors_view.hpp>

namespace epsflow::io {

/// The neighbours of all points within eps, in compressed sparse rows.
struct FileNeighbors {
  Buffer<std::uint64_t> offsets;  ///< [n + 1]
  Buffer<std::uint32_t> ids;      ///< [pairs]
  Buffer<double> distances;       ///< [pairs], or empty
  double eps = 0;                 ///< the eps that the table was made for

  [[nodiscard]] NeighborsView view() const noexcept { return {offsets.span(), ids.span(), distances.span(), eps}; }
};

/// Reads an HDF5 file as `epsflow neighbors --out` writes it: data sets `offsets` with the attribute eps, `ids` and,
/// optionally, `distances`. The rows are not checked: cluster() does that. memory: bytes that the table may take.
///
/// HDF5 is read in a child process, as for points (read_points.hpp). Throws InputError that names the fault if the file
/// is missing, damaged or not such a table, UsageError if the build has no HDF5, ResourceError if memory is short or
/// the child process cannot run.
[[nodiscard]] FileNeighbors read_neighbors(const std::filesystem::path& file,
                                           std::uint64_t memory = std::numeric_limits<std::uint64_t>::max());

}  // namespace epsflow::io
