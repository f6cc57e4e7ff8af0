#include <epsflow/io/hdf5_writer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/io/hdf5_handle.hpp>

namespace epsflow::io {
namespace {

/// The system's words out of an error text of the library, which wraps them in numbers; the text itself without any.
std::string reason_of(const std::string& text) {
  constexpr std::string_view kMark = "error message = '";
  const std::size_t begin = text.find(kMark);
  if (begin == std::string::npos) return text;
  const std::size_t first = begin + kMark.size();
  return text.substr(first, text.find('\'', first) - first);
}

/// An HDF5 file under a temporary name, moved to its target when it is complete.
class Writer {
 public:
  Writer(std::filesystem::path target, Overwrite overwrite)
      : target_(std::move(target)),
        overwrite_(overwrite),
        temporary_(temporary_beside(target_)),
        file_(check(H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))) {}
  ~Writer() {
    if (file_ < 0) return;
    H5Fclose(file_);
    H5Eclear2(H5E_DEFAULT);  // what could not be written has been reported
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] hid_t file() const noexcept { return file_; }

  /// Passes on what an HDF5 call returned; throws where it failed.
  template <class T>
  T check(T result) const {
    if (result >= 0) return result;
    throw_cannot_write(target_, reason_of(take_error_text()));
  }

  template <class T>
  DatasetHandle write(const char* name, std::span<const T> values, hid_t memory_type, hid_t file_type) const {
    const hsize_t size = values.size();
    const SpaceHandle space(check(H5Screate_simple(1, &size, nullptr)));
    DatasetHandle set(check(H5Dcreate2(file(), name, file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    if (size > 0) check(H5Dwrite(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return set;
  }

  void attribute(hid_t object, const char* name, const void* value, hid_t memory_type, hid_t file_type) const {
    const SpaceHandle space(check(H5Screate(H5S_SCALAR)));
    const AttributeHandle attribute(check(H5Acreate2(object, name, file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
    check(H5Awrite(attribute.get(), memory_type, value));
  }
  void attribute(hid_t object, const char* name, double value) const {
    attribute(object, name, &value, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
  }
  void attribute(hid_t object, const char* name, std::uint64_t value) const {
    attribute(object, name, &value, H5T_NATIVE_UINT64, H5T_STD_U64LE);
  }

  void commit() {
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL));
    check(H5Fclose(file_));
    file_ = H5I_INVALID_HID;  // from here on the temporary file is commit_file()'s
    commit_file(temporary_, target_, overwrite_);
  }

 private:
  std::filesystem::path target_;
  Overwrite overwrite_;
  std::filesystem::path temporary_;
  hid_t file_;
};

struct SummaryRow {
  double eps;
  std::uint64_t minpts, clusters, noise, core, border, largest;
  double seconds;
};

void write_summary(const Writer& writer, const std::vector<SweepEntry>& entries) {
  std::vector<SummaryRow> rows;
  rows.reserve(entries.size());
  for (const SweepEntry& e : entries) {
    rows.push_back({e.variant.eps, e.variant.minpts, e.summary.clusters, e.summary.noise, e.summary.core,
                    e.summary.border, e.summary.largest, e.seconds});
  }
  const TypeHandle type(writer.check(H5Tcreate(H5T_COMPOUND, sizeof(SummaryRow))));
  const auto field = [&](const char* name, std::size_t offset, hid_t field_type) {
    writer.check(H5Tinsert(type.get(), name, offset, field_type));
  };
  field("eps", offsetof(SummaryRow, eps), H5T_NATIVE_DOUBLE);
  field("minpts", offsetof(SummaryRow, minpts), H5T_NATIVE_UINT64);
  field("clusters", offsetof(SummaryRow, clusters), H5T_NATIVE_UINT64);
  field("noise", offsetof(SummaryRow, noise), H5T_NATIVE_UINT64);
  field("core", offsetof(SummaryRow, core), H5T_NATIVE_UINT64);
  field("border", offsetof(SummaryRow, border), H5T_NATIVE_UINT64);
  field("largest", offsetof(SummaryRow, largest), H5T_NATIVE_UINT64);
  field("seconds", offsetof(SummaryRow, seconds), H5T_NATIVE_DOUBLE);
  writer.write<SummaryRow>("summary", rows, type.get(), type.get());
}

}  // namespace

void write_hdf5_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite) {
  const Hdf5Session session;
  Writer writer(file, overwrite);
  {
    const DatasetHandle labels = writer.write<std::int32_t>("labels", result.labels, H5T_NATIVE_INT32, H5T_STD_I32LE);
    writer.attribute(labels.get(), "eps", result.variant.eps);
    writer.attribute(labels.get(), "minpts", std::uint64_t{result.variant.minpts});
    writer.attribute(labels.get(), "clusters", result.summary.clusters);
    writer.attribute(labels.get(), "noise", result.summary.noise);
    writer.attribute(labels.get(), "core", result.summary.core);
    writer.attribute(labels.get(), "border", result.summary.border);
    writer.attribute(labels.get(), "largest", result.summary.largest);
  }
  writer.commit();
}

void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries, std::uint64_t points,
                      const std::string& description,
                      const std::function<std::vector<std::int32_t>(std::size_t)>& labels_of) {
  const Hdf5Session session;
  Writer writer(file, Overwrite::replace);
  write_summary(writer, entries);
  {
    const TypeHandle text(writer.check(H5Tcopy(H5T_C_S1)));
    writer.check(H5Tset_size(text.get(), std::max<std::size_t>(description.size(), 1)));
    writer.attribute(writer.file(), "description", description.c_str(), text.get(), text.get());
  }
  if (!entries.empty() && points > 0) {
    constexpr hsize_t kMostChunk = 1 << 18;  // 1 MiB of labels: HDF5's default chunk cache
    constexpr unsigned kFastDeflate = 1;
    const std::array<hsize_t, 2> shape{entries.size(), points};
    const std::array<hsize_t, 2> chunk{1, std::min<hsize_t>(points, kMostChunk)};
    const std::array<hsize_t, 2> row{1, points};
    const SpaceHandle space(writer.check(H5Screate_simple(2, shape.data(), nullptr)));
    const SpaceHandle one(writer.check(H5Screate_simple(2, row.data(), nullptr)));
    const ListHandle layout(writer.check(H5Pcreate(H5P_DATASET_CREATE)));
    writer.check(H5Pset_chunk(layout.get(), 2, chunk.data()));
    writer.check(H5Pset_shuffle(layout.get()));
    writer.check(H5Pset_deflate(layout.get(), kFastDeflate));
    const DatasetHandle set(writer.check(
        H5Dcreate2(writer.file(), "labels", H5T_STD_I32LE, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT)));
    for (std::size_t v = 0; v < entries.size(); ++v) {
      const std::vector<std::int32_t> labels = labels_of(v);
      if (labels.size() != points) {
        throw Error("variant " + std::to_string(v) + " has " + std::to_string(labels.size()) + " labels for " +
                    std::to_string(points) + " points");
      }
      const std::array<hsize_t, 2> start{v, 0};
      writer.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, row.data(), nullptr));
      writer.check(H5Dwrite(set.get(), H5T_NATIVE_INT32, one.get(), space.get(), H5P_DEFAULT, labels.data()));
    }
  }
  writer.commit();
}

void write_hdf5_neighbors(const std::filesystem::path& file, const NeighborRows& rows, Overwrite overwrite) {
  const Hdf5Session session;
  Writer writer(file, overwrite);
  {
    const DatasetHandle offsets =
        writer.write<std::uint64_t>("offsets", rows.offsets, H5T_NATIVE_UINT64, H5T_STD_U64LE);
    writer.attribute(offsets.get(), "eps", rows.eps);
    writer.write<std::uint32_t>("ids", rows.ids, H5T_NATIVE_UINT32, H5T_STD_U32LE);
    if (!rows.distances.empty()) {
      writer.write<double>("distances", rows.distances, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
    }
  }
  writer.commit();
}

}  // namespace epsflow::io
