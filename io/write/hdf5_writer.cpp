#include <epsflow/io/write/hdf5_writer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/hdf5_output.hpp>

namespace epsflow::io {
namespace {

struct SummaryRow {
  double eps;
  std::uint64_t minpts, clusters, noise, core, border, largest;
  double seconds;
};

void write_summary(const Hdf5Output& writer, const std::vector<SweepEntry>& entries) {
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

void write_description(const Hdf5Output& writer, const std::string& description) {
  writer.attribute(writer.file(), "description", description);
}

/// A row per variant, chunked and compressed. Of a variant for which `row_of` has nothing the row is −1 throughout, and takes
/// no room; the data set is made with the first that has one.
template <class T>
void write_rows(const Hdf5Output& writer, const char* name, std::size_t variants, std::uint64_t points,
                const std::function<std::vector<T>(std::size_t)>& row_of) {
  static_assert(std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int8_t>);
  const bool wide = sizeof(T) == sizeof(std::int32_t);
  const hid_t memory_type = wide ? H5T_NATIVE_INT32 : H5T_NATIVE_INT8;
  const hid_t file_type = wide ? H5T_STD_I32LE : H5T_STD_I8LE;
  constexpr hsize_t kMostChunk = (1 << 20) / sizeof(T);  // HDF5's default chunk cache is of 1 MiB
  constexpr unsigned kFastDeflate = 1;
  constexpr T kUnknown = -1;
  const std::array<hsize_t, 2> shape{variants, points};
  const std::array<hsize_t, 2> chunk{1, std::min<hsize_t>(points, kMostChunk)};
  const std::array<hsize_t, 2> row{1, points};
  const SpaceHandle space(writer.check(H5Screate_simple(2, shape.data(), nullptr)));
  const SpaceHandle one(writer.check(H5Screate_simple(2, row.data(), nullptr)));
  const ListHandle layout = writer.layout();
  writer.check(H5Pset_chunk(layout.get(), 2, chunk.data()));
  writer.check(H5Pset_shuffle(layout.get()));
  writer.check(H5Pset_deflate(layout.get(), kFastDeflate));
  writer.check(H5Pset_fill_value(layout.get(), memory_type, &kUnknown));
  std::optional<DatasetHandle> set;
  for (std::size_t v = 0; v < variants; ++v) {
    const std::vector<T> values = row_of(v);
    if (values.empty()) continue;
    if (values.size() != points) {
      throw Error("variant " + std::to_string(v) + " has " + std::to_string(values.size()) + " " + name + " for " +
                  std::to_string(points) + " points");
    }
    if (!set) {
      set.emplace(writer.check(
          H5Dcreate2(writer.file(), name, file_type, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT)));
    }
    const std::array<hsize_t, 2> start{v, 0};
    writer.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, row.data(), nullptr));
    writer.check(H5Dwrite(set->get(), memory_type, one.get(), space.get(), H5P_DEFAULT, values.data()));
  }
}

}  // namespace

void write_hdf5_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                       const Metric& metric, LabelNumbers numbers) {
  const Hdf5Session session;
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    Hdf5Output writer(temporary, file);
    {
      const DatasetHandle labels = writer.write<std::int32_t>("labels", result.labels, H5T_NATIVE_INT32, H5T_STD_I32LE);
      writer.attributes(labels.get(), result, metric);
      if (numbers == LabelNumbers::group) writer.attribute(labels.get(), "numbers", std::string(kGroupMark));
    }
    writer.close();
  });
}

void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries,
                      const Hdf5Sweep& sweep) {
  const Hdf5Session session;
  write_atomically(file, Overwrite::replace, [&](const std::filesystem::path& temporary) {
    Hdf5Output writer(temporary, file);
    write_summary(writer, entries);
    write_description(writer, sweep.description);
    if (sweep.points > 0) {
      const std::size_t variants = entries.size();
      write_rows(writer, "labels", variants, sweep.points, sweep.labels);
      write_rows(writer, "core", variants, sweep.points, sweep.core);
    }
    if (!sweep.rows.empty()) {
      writer.write<std::int64_t>("rows", sweep.rows, H5T_NATIVE_INT64, H5T_STD_I64LE);
    }
    writer.close();
  });
}

void write_hdf5_neighbors(const std::filesystem::path& file, const NeighborRows& rows, Overwrite overwrite) {
  const Hdf5Session session;
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    Hdf5Output writer(temporary, file);
    writer.attribute(writer.write<std::uint64_t>("offsets", rows.offsets, H5T_NATIVE_UINT64, H5T_STD_U64LE).get(),
                     "eps", rows.eps);
    writer.write<std::uint32_t>("ids", rows.ids, H5T_NATIVE_UINT32, H5T_STD_U32LE);
    if (!rows.distances.empty()) {
      writer.write<double>("distances", rows.distances, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
    }
    writer.close();
  });
}

}  // namespace epsflow::io
