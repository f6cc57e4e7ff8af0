// Snapshots of SWIFT, Gadget-4 and Arepo, programs for cosmological simulations: /Header, /PartType0 to /PartType6.
#pragma once

#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

namespace epsflow::io {

/// True if the file has a snapshot's /Header, and this counts particles or a group /PartType0 … exists. Catalogues of
/// groups by the same programs count no particles.
[[nodiscard]] bool is_snapshot(const Hdf5File& file);

/// Returns the columns of the particles that ReadOptions::particles selects: x, y, z of Coordinates, vx, vy, vz of
/// Velocities, Masses (from Header/MassTable if only that has them), and all others that have numbers for each
/// particle. By default, x, y, z are the coordinates, in the box Header/BoxSize. If only other files of the snapshot
/// have such particles, the columns have no rows, and every name in the options counts as a column. Throws InputError
/// if the snapshot has no such particles, naming the types that it has, and for a header with invalid counts or box.
///
/// Source: github.com/SWIFTSIM/SWIFT, src/common_io.c; the Gadget-4 manual, section "Snapshot file format".
[[nodiscard]] Hdf5Columns columns_of_snapshot(const Hdf5File& file);

}  // namespace epsflow::io
