#include <epsflow/io/fits_writer.hpp>

#include <fitsio.h>
#include <fmt/format.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

#include <epsflow/io/fits_reader.hpp>
#include <epsflow/io/optional_formats.hpp>

namespace epsflow::io {

FormatInfo fits_info() {
  return {"FITS", true, fmt::format("cfitsio {}.{}.{}", CFITSIO_MAJOR, CFITSIO_MINOR, CFITSIO_MICRO)};
}

void write_fits_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite) {
  const std::scoped_lock lock(fits_mutex());
  const std::filesystem::path temporary = temporary_beside(file);
  errno = 0;
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
  // cfitsio says that it cannot write; why, the system has said to it.
  int error = errno;
  int close_status = 0;
  if (fits != nullptr) fits_close_file(fits, &close_status);
  if (status == 0) error = errno;
  if (status != 0 || close_status != 0) {
    fits_clear_errmsg();
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw_cannot_write(file, error != 0 ? error : EIO, result.labels.size() * sizeof(std::int32_t));
  }
  commit_file(temporary, file, overwrite);
}

}  // namespace epsflow::io
