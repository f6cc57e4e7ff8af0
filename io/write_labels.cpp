#include <epsflow/io/write_labels.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/io/atomic_file.hpp>
#include <epsflow/io/fits_writer.hpp>
#include <epsflow/io/hdf5_writer.hpp>
#include <epsflow/io/npy_writer.hpp>

namespace epsflow::io {
namespace {

void write_csv_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  AtomicFile out(file);
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "label\n");
  for (const std::int32_t label : labels) {
    fmt::format_to(std::back_inserter(text), "{}\n", label);
    if (text.size() < (1U << 20)) continue;
    out.write(std::string_view(text.data(), text.size()));
    text.clear();
  }
  out.write(std::string_view(text.data(), text.size()));
  out.commit();
}

void write_csv_points(const std::filesystem::path& file, PointsView points, const std::vector<std::string>& names) {
  AtomicFile out(file);
  fmt::memory_buffer text;
  if (!names.empty()) fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(names, ","));
  points.visit([&](auto values) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}\n",
                     fmt::join(values.subspan(i * points.dims(), points.dims()), ","));
      if (text.size() < (1U << 20)) continue;
      out.write(std::string_view(text.data(), text.size()));
      text.clear();
    }
  });
  out.write(std::string_view(text.data(), text.size()));
  out.commit();
}

}  // namespace

void write_labels(const std::filesystem::path& file, const VariantResult& result) {
  const std::string kind = file.extension().string();
  if (kind == ".npy") return write_npy(file, result.labels);
  if (kind == ".csv") return write_csv_labels(file, result.labels);
  if (kind == ".fits") return write_fits_labels(file, result);
  if (kind == ".h5" || kind == ".hdf5") return write_hdf5_labels(file, result);
  throw UsageError("cannot tell the format of " + file.string() + ": name it .npy, .csv, .fits or .h5");
}

void write_points(const std::filesystem::path& file, PointsView points, const std::vector<std::string>& names) {
  const std::string kind = file.extension().string();
  if (kind == ".npy") return write_npy(file, points);
  if (kind == ".csv") return write_csv_points(file, points, names);
  throw UsageError("cannot tell the format of " + file.string() + ": name it .npy or .csv");
}

}  // namespace epsflow::io
