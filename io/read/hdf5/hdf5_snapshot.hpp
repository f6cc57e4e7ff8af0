// Snapshots of cosmological simulations, as SWIFT, Gadget-4 and Arepo write them: /PartType0 to /PartType6, and a /Header.
#pragma once

#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

namespace epsflow::io {

/// Whether the file has such a header, and particles. What the same programs write of groups has none.
[[nodiscard]] bool is_snapshot(const Hdf5File& file);

/// The columns of the particles that ReadOptions::particles names: x, y, z of Coordinates, vx, vy, vz of Velocities, Masses (of
/// Header/MassTable where that alone has them), and all others that have a number for each particle. The first three are the coordinates
/// unless others are asked for; their box is Header/BoxSize. Where only other files of the snapshot have such particles there are no rows, and every column that is named.
/// Throws InputError where there are none, naming those that there are, and for a header whose counts or box cannot be.
///
/// Source: github.com/SWIFTSIM/SWIFT, src/common_io.c; the Gadget-4 manual, section "Snapshot file format".
[[nodiscard]] Hdf5Columns columns_of_snapshot(const Hdf5File& file);

}  // namespace epsflow::io
