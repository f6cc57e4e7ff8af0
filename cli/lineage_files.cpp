#include <epsflow/cli/lineage_files.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/npz_writer.hpp>

namespace epsflow::cli {

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

void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points) {
  std::vector<double> eps;
  std::vector<std::uint32_t> minpts, core_points, size;
  std::vector<std::int64_t> clusters, core, noise, wider, looser, offsets{0}, first_core;
  const std::vector<std::int64_t> rows =
      origin.renumbered() ? io::row_numbers(origin, points) : std::vector<std::int64_t>();
  std::vector<std::int32_t> parent_eps, parent_minpts;
  const auto cell_or_none = [](const std::optional<std::size_t>& i) { return i ? static_cast<std::int64_t>(*i) : -1; };
  const auto add_ancestors = [](std::vector<std::int32_t>& to, const std::vector<std::uint32_t>& ancestors,
                                std::size_t count) {
    // Clusters of cells at the edge have no parents.
    if (ancestors.empty()) to.insert(to.end(), count, -1);
    to.insert(to.end(), ancestors.begin(), ancestors.end());
  };
  for (const LineageCell& cell : lineage.cells()) {
    eps.push_back(cell.variant.eps);
    minpts.push_back(cell.variant.minpts);
    clusters.push_back(static_cast<std::int64_t>(cell.summary.clusters));
    core.push_back(static_cast<std::int64_t>(cell.summary.core));
    noise.push_back(static_cast<std::int64_t>(cell.summary.noise));
    wider.push_back(cell_or_none(cell.wider));
    looser.push_back(cell_or_none(cell.looser));
    for (const std::uint32_t point : cell.first_core) first_core.push_back(rows.empty() ? point : rows[point]);
    core_points.insert(core_points.end(), cell.core.begin(), cell.core.end());
    size.insert(size.end(), cell.size.begin(), cell.size.end());
    add_ancestors(parent_eps, cell.parent_eps, cell.clusters());
    add_ancestors(parent_minpts, cell.parent_minpts, cell.clusters());
    offsets.push_back(static_cast<std::int64_t>(first_core.size()));
  }
  io::NpzWriter out(file, file);
  const auto add = [&](const char* name, const char* type, const auto& values) {
    out.add(name, {io::npy_vector_header(type, values.size()), std::as_bytes(std::span(values))});
  };
  add("eps", "<f8", eps);
  add("minpts", "<u4", minpts);
  add("clusters", "<i8", clusters);
  add("core", "<i8", core);
  add("noise", "<i8", noise);
  add("wider", "<i8", wider);
  add("looser", "<i8", looser);
  add("offsets", "<i8", offsets);
  add("first_core", "<i8", first_core);
  add("core_points", "<u4", core_points);
  add("size", "<u4", size);
  add("in_wider", "<i4", parent_eps);
  add("in_looser", "<i4", parent_minpts);
  out.close();
}

Lineage read_lineage(const std::filesystem::path& file) {
  const auto read = [&](std::vector<std::string> columns) {
    return io::read_points(file, {.columns = std::move(columns)});
  };
  const io::FilePoints cells = read({"eps", "minpts", "clusters", "core", "noise", "wider", "looser"});
  const io::FilePoints offsets = read({"offsets"});
  std::optional<io::FilePoints> clusters;
  const auto number = [&](const io::FilePoints& table, std::size_t row, std::size_t column, double least = 0) {
    const double value = table.view().at(row, column);
    if (value >= least && value <= 0xFFFFFFFFU && value == std::floor(value)) return static_cast<std::int64_t>(value);
    throw InputError(file.string() + " was not written by epsflow, or is damaged: it has a count of " +
                     format_number(value));
  };
  constexpr double kNone = -1;
  const auto cell_in = [](std::int64_t place) {
    return place < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(place));
  };
  if (offsets.size() != cells.size() + 1)
    throw InputError(file.string() + " was not written by epsflow, or is damaged");
  if (number(offsets, cells.size(), 0) > 0) {
    clusters = read({"first_core", "core_points", "size", "in_wider", "in_looser"});
  }
  std::vector<LineageCell> all(cells.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    LineageCell& cell = all[i];
    cell.variant = {cells.view().at(i, 0), static_cast<std::uint32_t>(number(cells, i, 1))};
    cell.wider = cell_in(number(cells, i, 5, kNone));
    cell.looser = cell_in(number(cells, i, 6, kNone));
    const auto begin = static_cast<std::size_t>(number(offsets, i, 0));
    const auto end = static_cast<std::size_t>(number(offsets, i + 1, 0));
    if (begin > end || (end > begin && (!clusters || end > clusters->size()))) {
      throw InputError(file.string() + " was not written by epsflow, or is damaged: its clusters are not in order");
    }
    const auto list = [&](std::vector<std::uint32_t>& to, std::size_t column) {
      for (std::size_t k = begin; k < end; ++k) to.push_back(static_cast<std::uint32_t>(number(*clusters, k, column)));
    };
    // Rows of the file may exceed 32 bits, and only their order is needed.
    for (std::size_t k = begin; k < end; ++k) cell.first_core.push_back(static_cast<std::uint32_t>(k - begin));
    list(cell.core, 1);
    list(cell.size, 2);
    if (cell.wider) list(cell.parent_eps, 3);
    if (cell.looser) list(cell.parent_minpts, 4);
    std::uint64_t points = 0;
    for (const std::uint32_t size : cell.size) {
      points += size;
      cell.summary.largest = std::max<std::uint64_t>(cell.summary.largest, size);
    }
    cell.summary.clusters = static_cast<std::uint64_t>(number(cells, i, 2));
    cell.summary.core = static_cast<std::uint64_t>(number(cells, i, 3));
    cell.summary.noise = static_cast<std::uint64_t>(number(cells, i, 4));
    cell.summary.border = points - std::min(points, cell.summary.core);
  }
  try {
    return Lineage(std::move(all));
  } catch (const InputError& e) {
    throw InputError(file.string() + " was not written by epsflow, or is damaged: " + e.what());
  }
}

}  // namespace epsflow::cli
