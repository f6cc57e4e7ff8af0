#include <epsflow/io/read/hdf5/hdf5_format.hpp>

namespace epsflow::io {

const Format& hdf5_format() {
  static const Format format{
      .name = "HDF5",
      .extensions = {".h5", ".hdf5", ".hdf"},
      .magic = "\x89HDF\r\n\x1a\n",
      .takes = {ReadOption::table, ReadOption::external_storage},
      .needs = "EPSFLOW_WITH_HDF5=ON (libhdf5)",
      .reader = hdf5_reader(),
  };
  return format;
}

}  // namespace epsflow::io
