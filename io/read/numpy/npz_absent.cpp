// Stands in for npz_reader.cpp in a build without libzip.
#include <epsflow/io/optional_formats.hpp>
#include <epsflow/io/read/numpy/npz_reader.hpp>

namespace epsflow::io {

FormatInfo npz_info() { return {"NPZ", false, "EPSFLOW_WITH_NPZ=ON (libzip)"}; }

FilePoints read_npz(ByteStream&, const Source&) { throw_left_out(npz_info()); }

}  // namespace epsflow::io
