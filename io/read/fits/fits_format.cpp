#include <epsflow/io/read/fits/fits_format.hpp>

namespace epsflow::io {

const Format& fits_format() {
  static const Format format{
      .name = "FITS",
      .extensions = {".fits", ".fit", ".fts"},
      .magic = "SIMPLE  =",
      .takes = {ReadOption::table},
      .needs = "EPSFLOW_WITH_FITS=ON (cfitsio)",
      .must_begin = "SIMPLE",
      .otherwise = "not a FITS file: it does not begin with SIMPLE; name it by its kind",
      .reader = fits_reader(),
  };
  return format;
}

}  // namespace epsflow::io
