// Writing HDF5: labels, a whole sweep in one file, neighbour tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/label_numbers.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// Writes a data set `labels` (int32, [n]). Its attributes are eps, minpts, clusters, noise, core, border, largest, metric and,
/// where eps has a unit of its own, eps_unit. Atomic. Errors as AtomicFile.
void write_hdf5_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                       const Metric& metric, LabelNumbers numbers);

/// The arrays and the description of a sweep, for write_hdf5_sweep(). (The counts of its variants are in SweepEntry.) `labels` and
/// `core` are called with the number of a variant, one after another, so that memory holds the arrays of only one. They must not
/// use HDF5 themselves.
struct Hdf5Sweep {
  std::uint64_t points = 0;
  std::string description = {};  ///< the text of sweep.json
  std::function<std::vector<std::int32_t>(std::size_t)> labels = {};
  std::function<std::vector<std::int8_t>(std::size_t)> core = {};  ///< 0 and 1, or nothing where it is not known
  std::vector<std::int64_t> rows = {};  ///< [n] the input row of each point; empty if point i is row i
};

/// Writes a whole sweep to one file, over an older one. Its data sets are
///   summary   compound [variants]: eps, minpts, clusters, noise, core, border, largest, seconds
///   labels    int32 [variants × n], row v the labels of summary[v]; chunked by row and compressed
///   core      int8 [variants × n], 1 for core points, else 0; a row of −1 for a variant without a mask. Only if a variant has one
///   rows      int64 [n], the input row of each point. Only if rows were dropped or several files joined
/// The root has an attribute `description`, which names the metric with the unit of eps. Atomic. Throws ResourceError.
void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries,
                      const Hdf5Sweep& sweep);

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
