// Writing HDF5: labels, a whole sweep in one file, neighbour tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/io/results/sweep_entry.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// A data set `labels` (int32, [n]) with attributes eps, minpts and the counts of the summary. Atomic. Errors
/// as AtomicFile.
void write_hdf5_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite);

/// Everything of a sweep in one file:
///   summary   compound [variants]: eps, minpts, clusters, noise, core, border, largest, seconds
///   labels    int32 [variants × n], row v the labels of summary[v]; chunked by row and compressed
/// and `description` (the text of sweep.json) as an attribute of the root. labels_of(v) gives the labels, one variant
/// at a time, so that memory holds a single one; it must not use HDF5 itself. Atomic. Throws ResourceError.
void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries, std::uint64_t points,
                      const std::string& description,
                      const std::function<std::vector<std::int32_t>(std::size_t)>& labels_of);

/// A neighbour table in compressed sparse rows, by input id.
struct NeighborRows {
  std::span<const std::uint64_t> offsets;  ///< [n + 1]
  std::span<const std::uint32_t> ids;      ///< [pairs]
  std::span<const double> distances;       ///< [pairs], or empty
  double eps = 0;
};

/// Data sets `offsets` (uint64), `ids` (uint32) and, where given, `distances` (float64), with the attribute eps.
/// Atomic. Errors as AtomicFile.
void write_hdf5_neighbors(const std::filesystem::path& file, const NeighborRows& rows, Overwrite overwrite);

}  // namespace epsflow::io
