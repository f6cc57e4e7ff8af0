#include <epsflow/cli/labels.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::cli {

std::vector<std::int32_t> read_numbers(const std::filesystem::path& file, const WholeNumbers& numbers,
                                       io::ReadOptions options) {
  const auto& [what, least, most, advice] = numbers;
  options.on_nan = io::NanPolicy::drop;
  const io::FilePoints read = io::read_points(file, options);
  const std::string shown = file.string();
  if (read.dropped_rows() > 0) {
    throw InputError(
        fmt::format("{} has no number in row {}, and each of the {} is one: is it a file that epsflow wrote?", shown,
                    read.inputs.front().dropped.front(), what));
  }
  if (read.dims() != 1) {
    throw InputError(fmt::format("{} holds {} rows of {}, and the {} are one column: give the {} of these points",
                                 shown, format_count(read.size()), format_count(read.dims(), "column"), what, what));
  }
  std::vector<std::int32_t> values(read.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = read.view().at(i, 0);
    if (!(value >= least && value <= most) || value != std::floor(value)) {
      throw InputError(fmt::format("{} has {} in row {}, which is none of the {}: {}", shown, format_number(value), i,
                                   what, advice));
    }
    values[i] = static_cast<std::int32_t>(value);
  }
  return values;
}

io::Manifest read_results(const std::filesystem::path& folder) {
  io::Manifest manifest = io::read_manifest(folder);
  if (const std::string slices = io::slices_of(manifest); !slices.empty()) {
    throw InputError(fmt::format(
        "{} holds results of many data sets, {}, and the clusters of each count from 0: sweep one of them by itself",
        folder.string(), slices));
  }
  if (!manifest.runs.empty()) return manifest;
  throw InputError(fmt::format("{} holds no results: {} is missing there; give the folder that epsflow sweep wrote",
                               folder.string(), io::kManifestName));
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
  throw InputError(fmt::format("{} has no variant with eps {} and minpts {}; summary.csv there lists its {}",
                               folder.string(), format_number(variant.eps), variant.minpts,
                               format_count(manifest.entries.size(), "variant")));
}

void require_labels(const std::filesystem::path& folder, const io::SweepEntry& entry) {
  if (entry.has_labels) return;
  throw InputError(
      fmt::format("{} has no labels of eps {} and minpts {}, as --keep summary left them out: sweep again without it, "
                  "which --resume adds to what is there",
                  folder.string(), format_number(entry.variant.eps), entry.variant.minpts));
}

void require_unchanged(const std::filesystem::path& folder, const io::Manifest& manifest, const std::string& name) {
  const auto written = manifest.files.find(name);
  if (written != manifest.files.end() && io::digest_of(folder / name) == written->second) return;
  throw InputError((folder / name).string() +
                   " is missing or has changed since it was written: sweep again with --resume");
}

}  // namespace epsflow::cli
