// Stands in for npz_reader.cpp and npz_writer.cpp in a build without libzip.
#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/numpy/npz_format.hpp>
#include <epsflow/io/write/npz_writer.hpp>

namespace epsflow::io {

Reader npz_reader() { return {}; }

void write_npz(const std::filesystem::path&, std::span<const std::pair<std::string, NpyArray>>) {
  require_format("NPZ");
}

}  // namespace epsflow::io
