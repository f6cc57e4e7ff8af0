#include <epsflow/io/write_labels.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/write/csv_writer.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 6> kEndings{{{".npy", OutputFormat::npy},
                                                                             {".csv", OutputFormat::csv},
                                                                             {".fits", OutputFormat::fits},
                                                                             {".h5", OutputFormat::hdf5},
                                                                             {".hdf5", OutputFormat::hdf5},
                                                                             {".parquet", OutputFormat::parquet}}};

void write_csv_points(const std::filesystem::path& file, const std::filesystem::path& target, PointsView points,
                      const std::vector<std::string>& names) {
  FileStream out(file, target);
  CsvWriter csv(out);
  for (const std::string& name : names) csv.text(name);
  if (!names.empty()) csv.end_row();
  points.visit([&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      csv.number(values[i]);
      if ((i + 1) % points.dims() == 0) csv.end_row();
    }
  });
  csv.flush();
  out.close();
}

}  // namespace

OutputFormat output_format(const std::filesystem::path& file, std::span<const OutputFormat> allowed) {
  const std::string extension = file == kStandardOutput ? ".csv" : to_lower(file.extension().string());
  std::string known;
  for (const OutputFormat format : allowed) {
    for (const auto& [ending, meaning] : kEndings) {
      if (meaning != format) continue;
      if (extension == ending) return require_known(format);
      known += (known.empty() ? "" : ", ") + std::string(ending);
    }
  }
  if (extension == ".geojson" || extension == ".vtp") {
    throw UsageError("epsflow does not write " + file.string() +
                     ": write .csv or .parquet, and convert it with geopandas (.geojson) or pyvista (.vtp), for which "
                     "docs/howto/files.md has the recipe");
  }
  throw UsageError("cannot tell the format of " + file.string() + " from its name; let it end in one of " + known);
}

OutputFormat require_known(OutputFormat format) {
  if (format == OutputFormat::fits) require_format("FITS");
  if (format == OutputFormat::hdf5) require_format("HDF5");
  if (format == OutputFormat::parquet) require_format("Parquet");
  return format;
}

void write_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                  const Metric& metric, LabelNumbers numbers) {
  const OutputFormat format = output_format(file, kLabelFormats);
  const std::span<const std::int32_t> labels = result.labels;
  if (format == OutputFormat::npy) {
    return write_npy(file, numbers == LabelNumbers::group ? marked_npy(labels) : npy_labels(labels), overwrite);
  }
  const bool upper = format == OutputFormat::fits;
  const OutputTable table{.origin = {upper ? "LABELS" : "labels", result, metric},
                          .rows = labels.size(),
                          .columns = {{upper ? "LABEL" : kLabelColumn, ColumnView<std::int32_t>{labels.data()}}},
                          .numbers = numbers};
  write_atomically(file, overwrite, [&](const auto& temporary) { table_format(format).write(temporary, file, table); });
}

bool is_marked_as_groups(const std::filesystem::path& file) {
  if (is_marked_npy(file)) return true;
  constexpr std::streamoff kLooked = 1 << 16;  // metadata are at the beginning, and in Parquet at the end
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kLooked, '\0');
  const auto holds_mark = [&] {
    in.read(bytes.data(), kLooked);
    const std::string_view read(bytes.data(), static_cast<std::size_t>(in.gcount()));
    in.clear();
    return read.find(kGroupMark) != std::string_view::npos;
  };
  if (!in) return false;
  if (holds_mark()) return true;
  in.seekg(0, std::ios::end);
  in.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(in.tellg()) - kLooked));
  return in && holds_mark();
}

void write_points(const std::filesystem::path& file, PointsView points, const std::vector<std::string>& names,
                  Overwrite overwrite) {
  if (output_format(file, kPointFormats) == OutputFormat::npy) return write_npy(file, npy_points(points), overwrite);
  write_atomically(file, overwrite, [&](const auto& temporary) { write_csv_points(temporary, file, points, names); });
}

}  // namespace epsflow::io
