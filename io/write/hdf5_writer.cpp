#include <epsflow/io/write/hdf5_writer.hpp>

#include <algorithm>
#include <array>
#include <optional>

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
  std::size_t offset = 0;
  const auto field = [&](const char* name, hid_t field_type) {
    writer.check(H5Tinsert(type.get(), name, offset, field_type));
    offset += H5Tget_size(field_type);
  };
  field("eps", H5T_NATIVE_DOUBLE);
  for (const char* name : {"minpts", "clusters", "noise", "core", "border", "largest"}) field(name, H5T_NATIVE_UINT64);
  field("seconds", H5T_NATIVE_DOUBLE);
  const DatasetHandle set = writer.create("summary", type.get(), std::array<hsize_t, 1>{rows.size()});
  if (!rows.empty()) writer.check(H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()));
}

/// Writes a row for each variant, chunked and compressed. If `row_of` returns no values for a variant, its row is −1
/// throughout and takes no space. Creates the data set with the first row of values; without one, it is left out.
template <class T>
void write_rows(const Hdf5Output& writer, const char* name, std::size_t variants, std::uint64_t points,
                const std::function<std::vector<T>(std::size_t)>& row_of) {
  const Hdf5Type type = hdf5_type<T>();
  constexpr hsize_t kMostChunk = (1 << 20) / sizeof(T);  // HDF5's default chunk cache has 1 MiB
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
  writer.check(H5Pset_fill_value(layout.get(), type.memory, &kUnknown));
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
          H5Dcreate2(writer.file(), name, type.file, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT)));
    }
    const std::array<hsize_t, 2> start{v, 0};
    writer.check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, row.data(), nullptr));
    writer.check(H5Dwrite(set->get(), type.memory, one.get(), space.get(), H5P_DEFAULT, values.data()));
  }
}

}  // namespace

void write_hdf5_sweep(const std::filesystem::path& file, const std::vector<SweepEntry>& entries,
                      const Hdf5Sweep& sweep) {
  const Hdf5Session session;
  write_atomically(file, Overwrite::replace, [&](const std::filesystem::path& temporary) {
    Hdf5Output writer(temporary, file);
    write_summary(writer, entries);
    writer.attribute(writer.file(), "description", sweep.description);
    if (sweep.points > 0) {
      const std::size_t variants = entries.size();
      write_rows(writer, "labels", variants, sweep.points, sweep.labels);
      write_rows(writer, "core", variants, sweep.points, sweep.core);
    }
    if (!sweep.rows.empty()) writer.write<std::int64_t>("rows", sweep.rows);
    writer.close();
  });
}

void write_hdf5_neighbors(const std::filesystem::path& file, const NeighborsView& rows, Overwrite overwrite) {
  const Hdf5Session session;
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    Hdf5Output writer(temporary, file);
    writer.attribute(writer.write("offsets", rows.offsets).get(), "eps", rows.eps);
    writer.write("ids", rows.ids);
    if (!rows.distances.empty()) writer.write("distances", rows.distances);
    writer.close();
  });
}

}  // namespace epsflow::io
