#include <epsflow/io/write/hdf5_output.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {
namespace {

/// Returns the system's message in an error text of the library, which puts numbers around it, or else the whole text.
std::string reason_of(const std::string& text) {
  constexpr std::string_view kMark = "error message = '";
  const std::size_t begin = text.find(kMark);
  if (begin == std::string::npos) return text;
  const std::size_t first = begin + kMark.size();
  return text.substr(first, text.find('\'', first) - first);
}

}  // namespace

Hdf5Output::Hdf5Output(const std::filesystem::path& file, std::filesystem::path target)
    : target_(std::move(target)), file_(check(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))) {}

Hdf5Output::~Hdf5Output() {
  if (file_ < 0) return;
  H5Fclose(file_);
  H5Eclear2(H5E_DEFAULT);  // a failed write has been reported already
}

ListHandle Hdf5Output::layout() const {
  ListHandle list(check(H5Pcreate(H5P_DATASET_CREATE)));
  check(H5Pset_obj_track_times(list.get(), false));
  return list;
}

DatasetHandle Hdf5Output::create(const char* name, hid_t file_type, std::span<const hsize_t> shape) const {
  const SpaceHandle space(check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)));
  return DatasetHandle(
      check(H5Dcreate2(file(), name, file_type, space.get(), H5P_DEFAULT, layout().get(), H5P_DEFAULT)));
}

void Hdf5Output::attribute(hid_t object, const char* name, const SpaceHandle& space, Hdf5Type type,
                           const void* value) const {
  const AttributeHandle made(check(H5Acreate2(object, name, type.file, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  check(H5Awrite(made.get(), type.memory, value));
}

void Hdf5Output::attribute(hid_t object, const char* name, const std::string& value) const {
  const TypeHandle text(check(H5Tcopy(H5T_C_S1)));
  check(H5Tset_size(text.get(), std::max<std::size_t>(value.size(), 1)));
  attribute(object, name, SpaceHandle(check(H5Screate(H5S_SCALAR))), {text.get(), text.get()}, value.c_str());
}

void Hdf5Output::attributes(hid_t object, const VariantResult& result, const Metric& metric) const {
  const std::uint64_t size = result.variant.min_cluster_size;
  size > 0 ? attribute(object, "min_cluster_size", size) : attribute(object, "eps", result.variant.eps);
  attribute(object, "minpts", std::uint64_t{result.variant.minpts});
  attribute(object, "clusters", result.summary.clusters);
  attribute(object, "noise", result.summary.noise);
  attribute(object, size > 0 ? "clustered" : "core", result.summary.core);
  if (size == 0) attribute(object, "border", result.summary.border);
  attribute(object, "largest", result.summary.largest);
  attribute(object, "metric", describe_in_full(metric));
  if (const std::string_view unit = eps_unit(metric); !unit.empty()) attribute(object, "eps_unit", std::string(unit));
}

void Hdf5Output::close() {
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL));
  check(H5Fclose(file_));
  file_ = H5I_INVALID_HID;
}

void Hdf5Output::fail() const { throw_cannot_write(target_, reason_of(take_error_text())); }

}  // namespace epsflow::io
