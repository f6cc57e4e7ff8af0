// Stands in for the reader and the writers of HDF5 in a build without it.
#include <epsflow/io/read/hdf5/hdf5_format.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write/labelled_hdf5.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {

Reader hdf5_reader() { return {}; }

void write_hdf5_labels(const std::filesystem::path&, const VariantResult&, Overwrite, const Metric&, LabelNumbers) {
  throw_left_out(hdf5_format());
}

void write_hdf5_sweep(const std::filesystem::path&, const std::vector<SweepEntry>&, const Hdf5Sweep&) {
  throw_left_out(hdf5_format());
}

void write_hdf5_neighbors(const std::filesystem::path&, const NeighborRows&, Overwrite) {
  throw_left_out(hdf5_format());
}

void require_hdf5_names(std::span<const std::string>) { throw_left_out(hdf5_format()); }

void write_hdf5_coordinates(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::string>,
                            const LabelledRows&) {
  throw_left_out(hdf5_format());
}

void write_hdf5_table(const std::filesystem::path&, const std::filesystem::path&, const Table&, const TableOrigin&) {
  throw_left_out(hdf5_format());
}

void write_swift_groups(const std::filesystem::path&, const SwiftGroups&, Overwrite) { throw_left_out(hdf5_format()); }

}  // namespace epsflow::io
