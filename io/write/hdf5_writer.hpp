// Writes HDF5: a whole sweep in one file, neighbour tables, groups of friends.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/neighbors_view.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// The arrays and the description of a sweep, for write_hdf5_sweep(). (The counts of its variants are in SweepEntry.)
/// `labels` and `core` are called with the number of a variant, for one variant after another, so that memory holds the
/// arrays of only one. They return [n] values, or none if the variant has no such array, and must not use HDF5.
struct Hdf5Sweep {
  std::uint64_t points = 0;
  std::string description = {};  ///< the text of sweep.json
  std::function<std::vector<std::int32_t>(std::size_t)> labels = {};
  std::function<std::vector<std::int8_t>(std::size_t)> core = {};  ///< 0 and 1
  std::vector<std::int64_t> rows = {};  ///< [n] the input row of each point; empty if point i is row i
};

/// Writes a whole sweep to one file, and replaces an older one. Its data sets are
///   summary   compound [variants]: eps, minpts, clusters, noise, core, border, largest, seconds
///   labels    int32 [variants × n], row v the labels of summary[v], or −1 without labels; chunked by row and
///             compressed. Only if a variant has labels
///   core      int8 [variants × n], 1 for core points, else 0; −1 for a variant without a mask. Only if one has a mask
///   rows      int64 [n], Hdf5Sweep::rows, unless that is empty
/// The root has an attribute `description`, which names the metric with the unit of eps. Atomic. Throws ResourceError.
void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries,
                      const Hdf5Sweep& sweep);

/// Writes the data sets `offsets` (uint64) with the attribute eps, `ids` (uint32) and, unless empty, `distances`
/// (float64). Atomic. Errors as commit_file().
void write_hdf5_neighbors(const std::filesystem::path& file, const NeighborsView& rows, Overwrite overwrite);

/// Groups of friends, in the units below, as SWIFT's own finder writes them. Each array is [groups], in the order of
/// the groups.
struct SwiftGroups {
  std::span<const double> masses;
  std::span<const double> centres;      ///< [groups × 3]
  std::span<const std::int64_t> sizes;  ///< particles of each group
  std::array<double, 3> box{};          ///< sides; 0 if the box is not periodic
  double length_unit = 3.08567758e24;   ///< unit of lengths in cm; by default Mpc
  double mass_unit = 1.98841e43;        ///< unit of masses in g; by default 10^10 solar masses
};

/// Writes SWIFT's catalogue of groups, which swiftsimio opens: Groups/Masses, Centres, GroupIDs (from 1) and Sizes,
/// with their units. Source: github.com/SWIFTSIM/SWIFT, src/fof_catalogue_io.c. Atomic. Throws UsageError if lengths
/// differ; errors as commit_file().
void write_swift_groups(const std::filesystem::path& target, const SwiftGroups& groups, Overwrite overwrite);

}  // namespace epsflow::io
