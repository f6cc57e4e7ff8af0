#include <epsflow/io/read/first_bytes.hpp>
#include <epsflow/io/read/numpy/npz_format.hpp>

namespace epsflow::io {

const Format& npz_format() {
  static const Format format{
      .name = "NPZ",
      .extensions = {".npz"},
      .begins = [](std::string_view bytes) { return first_zip_entry(bytes).ends_with(".npy"); },
      .takes = {ReadOption::table},
      .needs = "EPSFLOW_WITH_NPZ=ON (libzip)",
      .reader = npz_reader(),
  };
  return format;
}

}  // namespace epsflow::io
