#include <epsflow/cli/labels.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

namespace {

std::vector<std::int32_t> whole_numbers(const std::filesystem::path& file, const io::FilePoints& read,
                                        const WholeNumbers& numbers) {
  std::vector<std::int32_t> values(read.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = read.view().at(i, 0);
    if (!(value >= numbers.least && value <= numbers.most) || value != std::floor(value)) {
      throw input_error("{} has {} in row {}, which is none of the {}: {}", file.string(), format_number(value), i,
                        numbers.what, numbers.advice);
    }
    values[i] = static_cast<std::int32_t>(value);
  }
  return values;
}

}  // namespace

FileColumn read_file_column(const std::filesystem::path& file, const WholeNumbers& numbers, io::ReadOptions options) {
  bool alone = true;
  options.on_nan = io::NanPolicy::drop;
  options.choose = [&](const std::vector<std::string>& names) -> std::vector<std::size_t> {
    alone = names.size() == 1;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (io::has_word(numbers.columns, io::to_lower(names[i]))) return {i};
    }
    return {};
  };
  const io::FilePoints read = io::read_points(file, options);
  if (read.dims() != 1) {
    throw input_error("{} holds {} rows of {}, and the {} are one column: give the {} of these points", file.string(),
                      format_count(read.size()), format_count(read.dims(), "column"), numbers.what, numbers.what);
  }
  if (alone && read.dropped_rows() > 0) {
    throw input_error("{} has no number in row {}, and each of the {} is one: is it a file that epsflow wrote?",
                      file.string(), read.inputs.front().dropped.front(), numbers.what);
  }
  FileColumn column{whole_numbers(file, read, numbers), read.inputs.front().dropped};
  if (numbers.what != kLabelNumbers.what) return column;
  const bool groups = io::is_marked_as_groups(file);
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    const bool none = column.values[i] == 0 && (groups || std::signbit(read.view().at(i, 0)));
    if (none || column.values[i] == kNoGroup) column.values[i] = kNoise;
  }
  return column;
}

std::vector<std::int32_t> read_for_points(const std::filesystem::path& file, const WholeNumbers& numbers,
                                          const io::FilePoints& points) {
  FileColumn column = read_file_column(file, numbers);
  if (column.missing.empty() && column.values.size() == points.size()) return std::move(column.values);
  if (column.rows() != points.size() + points.dropped_rows()) {
    throw input_error("{} has {} in {}, and there are {}: give the {} of these points", file.string(),
                      format_count(column.values.size(), numbers.one), format_count(column.rows(), "row"),
                      format_count(points.size(), "point"), numbers.what);
  }
  std::vector<std::int32_t> taken;
  taken.reserve(points.size());
  for (const std::int64_t row : io::row_numbers(points)) {
    const auto missing = std::ranges::lower_bound(column.missing, static_cast<std::uint64_t>(row));
    if (missing != column.missing.end() && *missing == static_cast<std::uint64_t>(row)) {
      throw input_error(
          "{} has no number in row {}, and each of the {} is one: leave this row of the points out, or fill it",
          file.string(), row, numbers.what);
    }
    taken.push_back(column.values[static_cast<std::size_t>(row - (missing - column.missing.begin()))]);
  }
  return taken;
}

io::Manifest read_results(const std::filesystem::path& folder, bool hierarchies) {
  io::Manifest manifest = io::read_manifest(folder);
  if (!hierarchies) io::require_sweep(folder, manifest);
  if (const std::string slices = io::slices_of(manifest); !slices.empty()) {
    throw input_error(
        "{} holds results of many data sets, {}, and the clusters of each count from 0: sweep one of them by itself",
        folder.string(), slices);
  }
  if (!manifest.runs.empty()) return manifest;
  throw input_error("{} holds no results: {} is missing there; give a folder that epsflow {} wrote", folder.string(),
                    io::kManifestName, hierarchies ? "sweep, explore or hdbscan" : "sweep or explore");
}

const io::SweepEntry* find_variant(const io::Manifest& manifest, const Variant& variant) {
  const auto found = manifest.entries.find(variant);
  if (found != manifest.entries.end()) return &found->second;
  for (const auto& [held, entry] : manifest.entries) {
    if (held.minpts == variant.minpts && std::abs(held.eps - variant.eps) <= 1e-9 * variant.eps) return &entry;
  }
  return nullptr;
}

const io::SweepEntry& require_variant(const std::filesystem::path& folder, const io::Manifest& manifest,
                                      const Variant& variant) {
  if (const io::SweepEntry* const found = find_variant(manifest, variant)) return *found;
  throw input_error("{} has no variant with eps {} and minpts {}; summary.csv there lists its {}", folder.string(),
                    format_number(variant.eps), variant.minpts, format_count(manifest.entries.size(), "variant"));
}

void require_labels(const std::filesystem::path& folder, const io::SweepEntry& entry) {
  if (entry.has_labels) return;
  throw input_error(
      "{} has no labels of eps {} and minpts {}, as --keep summary left them out: sweep again without it, "
      "which --resume adds to what is there",
      folder.string(), format_number(entry.variant.eps), entry.variant.minpts);
}

std::filesystem::path require_unchanged(const std::filesystem::path& folder, const io::Manifest& manifest,
                                        const std::string& name) {
  std::filesystem::path file = folder / name;
  const auto written = manifest.files.find(name);
  if (written != manifest.files.end() && io::digest_of(file) == written->second) return file;
  throw input_error("{} is missing or has changed since it was written: {}", file.string(),
                    manifest.of_hierarchies() ? "run hdbscan again with --overwrite" : "sweep again with --resume");
}

std::vector<Variant> parse_cells(const Arguments& arguments) {
  std::vector<Variant> cells;
  for (const std::string& text : arguments.texts("cell"))
    std::ranges::copy(parse_variants(text), std::back_inserter(cells));
  return cells;
}

}  // namespace epsflow::cli
