#include <epsflow/io/fits_writer.hpp>

#include <fitsio.h>
#include <fmt/format.h>

#include <mutex>
#include <string>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/io/atomic_file.hpp>
#include <epsflow/io/fits_reader.hpp>
#include <epsflow/io/optional_formats.hpp>

namespace epsflow::io {

FormatInfo fits_info() {
  return {"FITS", true, fmt::format("cfitsio {}.{}.{}", CFITSIO_MAJOR, CFITSIO_MINOR, CFITSIO_MICRO)};
}

void write_fits_labels(const std::filesystem::path& file, const VariantResult& result) {
  const std::scoped_lock lock(fits_mutex());
  const std::filesystem::path temporary = temporary_beside(file);
  int status = 0;
  fitsfile* fits = nullptr;
  fits_create_diskfile(&fits, temporary.c_str(), &status);
  std::string name = "LABEL";
  std::string form = "1J";
  char* names[] = {name.data()};
  char* forms[] = {form.data()};
  const auto rows = static_cast<LONGLONG>(result.labels.size());
  fits_create_tbl(fits, BINARY_TBL, rows, 1, names, forms, nullptr, "LABELS", &status);
  double eps = result.variant.eps;
  auto minpts = static_cast<LONGLONG>(result.variant.minpts);
  fits_write_key(fits, TDOUBLE, "EPS", &eps, "neighbourhood radius", &status);
  fits_write_key(fits, TLONGLONG, "MINPTS", &minpts, "points within EPS of a core point", &status);
  // cfitsio takes a pointer to non-const, and does not write through it.
  fits_write_col(fits, TINT, 1, 1, 1, rows, const_cast<std::int32_t*>(result.labels.data()), &status);
  int close_status = 0;
  if (fits != nullptr) fits_close_file(fits, &close_status);
  if (status == 0) status = close_status;
  if (status != 0) {
    char text[FLEN_STATUS] = {};
    fits_get_errstatus(status, text);
    fits_clear_errmsg();
    std::error_code code;
    std::filesystem::remove(temporary, code);
    throw ResourceError("cannot write " + file.string() + ": " + text +
                        "; free space, fix the permissions or choose another place with --out");
  }
  commit_file(temporary, file);
}

}  // namespace epsflow::io
