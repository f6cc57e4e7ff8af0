// Replaces the reader and the writers of HDF5 in a build without it.
#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/readers.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {

Reader hdf5_reader() { return {}; }

TableFunctions hdf5_tables() { return {}; }

void write_hdf5_sweep(const std::filesystem::path&, const std::vector<SweepEntry>&, const Hdf5Sweep&) {
  require_format("HDF5");
}

void write_hdf5_neighbors(const std::filesystem::path&, const NeighborsView&, Overwrite) { require_format("HDF5"); }

void write_swift_groups(const std::filesystem::path&, const SwiftGroups&, Overwrite) { require_format("HDF5"); }

}  // namespace epsflow::io
