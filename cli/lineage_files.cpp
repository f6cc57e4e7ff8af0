#include <epsflow/cli/lineage_files.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/format.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/npz_writer.hpp>

namespace epsflow::cli {
namespace {

template <class T>
std::pair<std::string, io::NpyArray> array_of(const char* name, const char* type, const std::vector<T>& values) {
  return {name, {io::npy_vector_header(type, values.size()), std::as_bytes(std::span(values))}};
}

}  // namespace

void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores) {
  std::string text = "eps,minpts,clusters,noise,core,border,largest,agreement_wider,agreement_looser,relative_validity";
  const auto add_agreement = [&](std::size_t cell, const std::optional<std::size_t>& other) {
    text += ",";
    if (other) text += format_number(agreement(lineage.contingency(cell, *other)).adjusted_rand);
  };
  const std::vector<double> validity = relative_validity(lineage);
  text += scores.empty() ? "\n" : ",score,credit\n";
  for (std::size_t i = 0; i < lineage.cells().size(); ++i) {
    const LineageCell& cell = lineage.cell(i);
    text += format_number(cell.variant.eps) + "," + std::to_string(cell.variant.minpts);
    const LabelSummary& s = cell.summary;
    for (const std::uint64_t count : {s.clusters, s.noise, s.core, s.border, s.largest}) {
      text += "," + std::to_string(count);
    }
    add_agreement(i, cell.wider);
    add_agreement(i, cell.looser);
    text += ",";
    if (!std::isnan(validity[i])) text += format_number(validity[i]);
    if (!scores.empty()) text += "," + format_number(scores[i].score) + "," + format_number(scores[i].credit);
    text += "\n";
  }
  io::write_text_file(file, text);
}

void write_lineage(const std::filesystem::path& file, const Lineage& lineage) {
  std::vector<double> eps;
  std::vector<std::uint32_t> minpts, first_core, core_points, size;
  std::vector<std::int64_t> clusters, core, noise, wider, looser, offsets{0};
  std::vector<std::int32_t> in_wider, in_looser;
  const auto cell_or_none = [](const std::optional<std::size_t>& i) { return i ? static_cast<std::int64_t>(*i) : -1; };
  const auto add_holders = [](std::vector<std::int32_t>& to, const std::vector<std::uint32_t>& holders,
                              std::size_t count) {
    // Cells at the edge have none.
    if (holders.empty()) to.insert(to.end(), count, -1);
    to.insert(to.end(), holders.begin(), holders.end());
  };
  for (const LineageCell& cell : lineage.cells()) {
    eps.push_back(cell.variant.eps);
    minpts.push_back(cell.variant.minpts);
    clusters.push_back(static_cast<std::int64_t>(cell.summary.clusters));
    core.push_back(static_cast<std::int64_t>(cell.summary.core));
    noise.push_back(static_cast<std::int64_t>(cell.summary.noise));
    wider.push_back(cell_or_none(cell.wider));
    looser.push_back(cell_or_none(cell.looser));
    first_core.insert(first_core.end(), cell.first_core.begin(), cell.first_core.end());
    core_points.insert(core_points.end(), cell.core.begin(), cell.core.end());
    size.insert(size.end(), cell.size.begin(), cell.size.end());
    add_holders(in_wider, cell.in_wider, cell.clusters());
    add_holders(in_looser, cell.in_looser, cell.clusters());
    offsets.push_back(static_cast<std::int64_t>(first_core.size()));
  }
  const std::vector<std::pair<std::string, io::NpyArray>> arrays{array_of("eps", "<f8", eps),
                                                                 array_of("minpts", "<u4", minpts),
                                                                 array_of("clusters", "<i8", clusters),
                                                                 array_of("core", "<i8", core),
                                                                 array_of("noise", "<i8", noise),
                                                                 array_of("wider", "<i8", wider),
                                                                 array_of("looser", "<i8", looser),
                                                                 array_of("offsets", "<i8", offsets),
                                                                 array_of("first_core", "<u4", first_core),
                                                                 array_of("core_points", "<u4", core_points),
                                                                 array_of("size", "<u4", size),
                                                                 array_of("in_wider", "<i4", in_wider),
                                                                 array_of("in_looser", "<i4", in_looser)};
  io::write_npz(file, arrays);
}

}  // namespace epsflow::cli
