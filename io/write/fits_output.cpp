#include <epsflow/io/write/fits_output.hpp>

#include <cerrno>
#include <string>
#include <utility>

#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

FitsOutput::FitsOutput(const std::filesystem::path& file, std::filesystem::path target, std::uint64_t wanted)
    : target_(std::move(target)), wanted_(wanted) {
  fitsfile* opened = nullptr;
  int status = 0;
  errno = 0;
  fits_create_diskfile(&opened, file.c_str(), &status);
  file_.reset(opened);
  check(status);
}

FitsOutput::~FitsOutput() = default;

bool FitsOutput::is_of_system(int status) noexcept {
  return status == WRITE_ERROR || status == SEEK_ERROR || status == FILE_NOT_CLOSED || status == FILE_NOT_CREATED ||
         status == FILE_NOT_OPENED;
}

void FitsOutput::check(int status) const {
  if (status == 0) return;
  if (!is_of_system(status)) throw_cannot_write(target_, describe_fits(status), wanted_);
  throw_cannot_write(target_, errno != 0 ? errno : EIO, wanted_);
}

void FitsOutput::write_variant(const Variant& variant, const Metric& metric) const {
  int status = 0;
  double eps = variant.eps;
  auto minpts = static_cast<LONGLONG>(variant.minpts);
  auto size = static_cast<LONGLONG>(variant.min_cluster_size);
  if (size == 0) fits_update_key(get(), TDOUBLE, "EPS", &eps, "neighbourhood radius", &status);
  fits_update_key(get(), TLONGLONG, "MINPTS", &minpts, "points within eps of a core point", &status);
  if (size > 0) fits_update_key(get(), TLONGLONG, "MINSIZE", &size, "points of a cluster of HDBSCAN*", &status);
  // A string may be longer than a card.
  fits_update_key_longstr(get(), "METRIC", describe_in_full(metric).c_str(), "what distance is", &status);
  const std::string unit(eps_unit(metric));
  if (!unit.empty()) fits_update_key_longstr(get(), "EPSUNIT", unit.c_str(), "unit of EPS", &status);
  check(status);
}

void FitsOutput::close() {
  int status = 0;
  fits_close_file(file_.release(), &status);
  check(status);
}

}  // namespace epsflow::io
