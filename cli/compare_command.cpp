#include <algorithm>
#include <system_error>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/pipeline/on_threads.hpp>

namespace epsflow::cli {
namespace {

/// One of the two operands: a file of labels, or a results folder.
struct Side {
  std::filesystem::path path;
  std::optional<io::Manifest> results;  ///< empty for a file
};

/// One of two labellings.
struct Labelling {
  const Side* side = nullptr;
  const io::SweepEntry* entry = nullptr;  ///< null for a file
};

using LabellingPair = std::array<Labelling, 2>;

Side side_of(const std::string& operand) {
  Side side{operand, std::nullopt};
  if (std::error_code code; std::filesystem::is_directory(side.path, code)) side.results = read_results(side.path);
  return side;
}

struct CompareCommand {
  Words operands = {};
  std::vector<Variant> cells = {};  ///< none, one for both, or one for each
  Words columns = {};               ///< columns of labels in files: none, one for both, or one for each
  std::string table = {};
  std::optional<std::uint64_t> most = {};  ///< the number of clusters to show
  EngineOptions engine = {};
  Messages messages = {};
};

std::vector<Variant> parse_pair_of_cells(const Arguments& arguments) {
  std::vector<Variant> cells = parse_cells(arguments);
  if (arguments.given("eps") || arguments.given("minpts")) {
    if (!cells.empty()) throw UsageError("give either --cell or --eps with --minpts, not both");
    if (!arguments.given("eps") || !arguments.given("minpts")) {
      throw UsageError("--eps and --minpts name a variant together: give both");
    }
    cells = grid(parse_eps_list(arguments.text("eps")), parse_minpts_list(arguments.text("minpts"))).variants();
    if (cells.size() > 1) throw UsageError("--eps and --minpts name one variant, that of both: use --cell for two");
  }
  if (cells.size() > 2) {
    throw usage_error("{} cells are given, and two labellings are compared: give one or two", cells.size());
  }
  return cells;
}

CompareCommand parse_compare(const Arguments& arguments) {
  arguments.require({});
  CompareCommand command{.operands = arguments.operands(),
                         .columns = arguments.texts("columns"),
                         .table = arguments.text("table"),
                         .messages = parse_messages(arguments)};
  if (command.operands.size() > 2) {
    throw usage_error("compare takes two labellings, and {} are named", command.operands.size());
  }
  require_one_pipe(command.operands);
  if (command.columns.size() > 2) {
    throw UsageError("--columns is given more than twice, and two labellings are compared: give it once or twice");
  }
  command.cells = parse_pair_of_cells(arguments);
  // Without --most, JSON contains all clusters.
  if (arguments.given("most") || !command.messages.json) command.most = arguments.number("most");
  take(arguments, command.engine);
  return command;
}

/// Returns the part of Manifest's checksum that identifies the points, without weights and metric.
std::string_view points_of(std::string_view checksum) { return checksum.substr(0, checksum.find_first_of(" ,")); }

/// Throws InputError if the checksums of two folders show that their points differ.
void require_same_points(const Side& a, const Side& b) {
  if (!a.results || !b.results) return;
  const std::string_view of_a = points_of(a.results->checksum);
  const std::string_view of_b = points_of(b.results->checksum);
  if (of_a == of_b || of_a == "unknown" || of_b == "unknown") return;
  throw input_error(
      "{} is of other points than {} ({}, not {}); where their rows are the same objects all the "
      "same, compare the files in their labels/",
      b.path.string(), a.path.string(), of_b, of_a);
}

Labelling labelling_of(const Side& side, const Variant* cell) {
  if (!side.results) return {&side, nullptr};
  if (cell == nullptr) {
    throw usage_error("{} holds {}: choose one with --cell EPS:MINPTS", side.path.string(),
                      format_count(side.results->entries.size(), "variant"));
  }
  return {&side, &require_variant(side.path, *side.results, *cell)};
}

/// Returns the pairs to compare. Without cells, these are all variants that two folders have in common.
std::vector<LabellingPair> pairs_of(const std::vector<Side>& sides, const std::vector<Variant>& cells) {
  const Side& a = sides.front();
  const Side& b = sides.back();
  if (sides.size() == 1) {
    if (!a.results) throw UsageError("compare takes two labellings, and " + a.path.string() + " is one: name another");
    if (cells.size() != 2) {
      throw UsageError("of the one folder " + a.path.string() +
                       " two variants are compared: choose them with --cell EPS:MINPTS, given twice");
    }
    return {{labelling_of(a, &cells[0]), labelling_of(a, &cells[1])}};
  }
  const std::size_t folders = (a.results ? 1 : 0) + (b.results ? 1 : 0);
  if (folders == 0 && !cells.empty()) {
    throw UsageError(
        "--cell, --eps and --minpts choose a variant of a results folder, and both are files: leave them out");
  }
  if (folders == 1 && cells.size() == 2) {
    throw UsageError("two cells are given, and one of the two is a file, which has no variants: give one cell");
  }
  require_same_points(a, b);
  if (folders == 2 && cells.empty()) {
    std::vector<LabellingPair> pairs;
    for (const auto& [variant, entry] : a.results->entries) {
      if (const io::SweepEntry* const other = find_variant(*b.results, variant)) {
        pairs.push_back({Labelling{&a, &entry}, Labelling{&b, other}});
      }
    }
    if (!pairs.empty()) return pairs;
    throw input_error("{} and {} have no variant in common: choose one of each with --cell EPS:MINPTS, given twice",
                      a.path.string(), b.path.string());
  }
  const auto cell = [&](std::size_t i) { return cells.empty() ? nullptr : &cells[std::min(i, cells.size() - 1)]; };
  return {{labelling_of(a, cell(0)), labelling_of(b, cell(1))}};
}

/// Reads one of two labellings. which: 0 for A, 1 for B.
FileColumn labels_of(const Labelling& labelling, std::size_t which, const CompareCommand& command) {
  const Side& side = *labelling.side;
  if (labelling.entry != nullptr) {
    require_labels(side.path, *labelling.entry);
    const std::string name = io::labels_name(labelling.entry->variant);
    return read_file_column(require_unchanged(side.path, *side.results, name), kLabelNumbers);
  }
  io::ReadOptions options;
  const Words& columns = command.columns;
  if (!columns.empty()) options.columns = {columns[std::min(which, columns.size() - 1)]};
  options.table = command.table;
  return read_file_column(side.path, kLabelNumbers, std::move(options));
}

std::string name_of(const Labelling& labelling) {
  std::string path = labelling.side->path.string();
  if (labelling.entry == nullptr) return path;
  const Variant& v = labelling.entry->variant;
  return fmt::format("{}, eps {} minpts {}", path, format_number(v.eps), v.minpts);
}

/// Removes the labels of these rows, which are ascending.
void leave_out(FileColumn& labels, const std::vector<std::uint64_t>& rows) {
  std::vector<std::int32_t> remaining;
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < labels.rows(); ++row) {
    if (std::ranges::binary_search(labels.missing, row)) continue;
    if (!std::ranges::binary_search(rows, row)) remaining.push_back(labels.values[next]);
    ++next;
  }
  labels.values = std::move(remaining);
}

Contingency compared(const LabellingPair& pair, const CompareCommand& command) {
  FileColumn a = labels_of(pair[0], 0, command);
  FileColumn b = labels_of(pair[1], 1, command);
  if (a.rows() == b.rows()) {
    const std::vector<std::uint64_t> missing = a.missing;
    leave_out(a, b.missing);
    leave_out(b, missing);
  }
  if (a.values.size() == b.values.size()) return compare(a.values, b.values, command.engine);
  throw input_error("{} has {}, and {} has {}: compare labellings of the same points", name_of(pair[0]),
                    format_count(a.values.size(), "label"), name_of(pair[1]), format_count(b.values.size(), "label"));
}

struct LabellingCounts {
  std::uint64_t clusters = 0;
  std::uint64_t noise = 0;
};

LabellingCounts counts_of(std::span<const LabelCount> labels) {
  const bool has_noise = !labels.empty() && labels.front().label == kNoise;
  return {labels.size() - (has_noise ? 1 : 0), has_noise ? labels.front().points : 0};
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Returns the fates of the largest clusters, largest first, and of noise at the end. most: 0 for all.
std::vector<Fate> largest_fates(const Contingency& table, std::uint64_t most) {
  std::vector<Fate> all = fates(table);
  std::stable_sort(all.begin(), all.end(), [](const Fate& x, const Fate& y) {
    return std::pair(x.cluster == kNoise, y.points) < std::pair(y.cluster == kNoise, x.points);
  });
  const bool has_noise = !all.empty() && all.back().cluster == kNoise;
  if (const std::size_t clusters = all.size() - (has_noise ? 1 : 0); most > 0 && clusters > most) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(most), all.begin() + static_cast<std::ptrdiff_t>(clusters));
  }
  return all;
}

void print_fates(const Contingency& table, std::uint64_t most) {
  std::vector<Words> rows{{"A", "points", "B", "common", "of A", "of B", "parts", "noise"}};
  for (const Fate& fate : largest_fates(table, most)) {
    Words row{fate.cluster == kNoise ? "noise" : std::to_string(fate.cluster), format_count(fate.points)};
    if (fate.became.empty()) {
      row.insert(row.end(), {"-", "-", "-", "-"});
    } else {
      const auto& [label, points] = fate.became.front();
      const auto whole = std::lower_bound(table.b().begin(), table.b().end(), label,
                                          [](const LabelCount& c, std::int32_t l) { return c.label < l; });
      row.insert(row.end(), {std::to_string(label), format_count(points), percent(points, fate.points),
                             percent(points, whole->points)});
    }
    row.push_back(format_count(fate.became.size()));
    row.push_back(format_count(fate.noise));
    rows.push_back(std::move(row));
  }
  print_columns(rows);
}

void print_comparison(const LabellingPair& pair, const Contingency& table, std::uint64_t most) {
  const Agreement found = agreement(table);
  const std::array counts{counts_of(table.a()), counts_of(table.b())};
  for (std::size_t i = 0; i < 2; ++i) {
    print_result("{}: {}: {}, {} noise\n", i == 0 ? "A" : "B", name_of(pair[i]),
                 format_count(counts[i].clusters, "cluster"), format_count(counts[i].noise));
  }
  print_result(
      "{}\n\n"
      "adjusted Rand index       {:.6f}\n"
      "variation of information  {:.6f} nats, {:.6f} of ln n\n"
      "purity                    {:.2f} % of A in B, {:.2f} % of B in A\n\n",
      format_count(table.points(), "point"), found.adjusted_rand, found.variation, found.normalised_variation,
      100 * found.kept, 100 * found.kept_back);
  print_fates(table, most);
  if (counts[0].clusters > most) {
    print_result("and {} of A; --most shows more\n", format_count(counts[0].clusters - most, "smaller cluster"));
  }
}

void add_agreement(nlohmann::ordered_json& json, const Contingency& table) {
  const Agreement found = agreement(table);
  json["adjusted_rand"] = found.adjusted_rand;
  json["variation"] = found.variation;
  json["normalised_variation"] = found.normalised_variation;
  json["kept"] = found.kept;
  json["kept_back"] = found.kept_back;
}

nlohmann::ordered_json json_of(const Labelling& labelling, std::span<const LabelCount> labels) {
  nlohmann::ordered_json json{{"labels", labelling.side->path.string()}};
  if (labelling.entry != nullptr) {
    json["eps"] = labelling.entry->variant.eps;
    json["minpts"] = labelling.entry->variant.minpts;
  }
  const LabellingCounts counts = counts_of(labels);
  json["clusters"] = counts.clusters;
  json["noise"] = counts.noise;
  return json;
}

/// Prints the comparison as JSON. most: 0 for all.
void print_comparison_as_json(const LabellingPair& pair, const Contingency& table, std::uint64_t most) {
  nlohmann::ordered_json json{
      {"points", table.points()}, {"a", json_of(pair[0], table.a())}, {"b", json_of(pair[1], table.b())}};
  add_agreement(json, table);
  json["became"] = nlohmann::ordered_json::array();
  for (const Fate& fate : largest_fates(table, most)) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const auto& [label, points] : fate.became) parts.push_back({{"cluster", label}, {"points", points}});
    json["became"].push_back(
        {{"cluster", fate.cluster}, {"points", fate.points}, {"noise", fate.noise}, {"parts", std::move(parts)}});
  }
  print_json(json);
}

/// Prints a row for each variant of two folders.
void compare_all(const std::vector<LabellingPair>& pairs, const CompareCommand& command) {
  std::vector<Words> rows{{"eps", "minpts", "clusters A", "clusters B", "noise A", "noise B", "adjusted Rand",
                           "variation", "of ln n", "A in B", "B in A"}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LabellingPair& pair : pairs) {
    const Contingency table = compared(pair, command);
    const Variant& variant = pair[0].entry->variant;
    const Agreement found = agreement(table);
    const LabellingCounts a = counts_of(table.a());
    const LabellingCounts b = counts_of(table.b());
    rows.push_back({format_number(variant.eps), std::to_string(variant.minpts), format_count(a.clusters),
                    format_count(b.clusters), format_count(a.noise), format_count(b.noise),
                    fmt::format("{:.6f}", found.adjusted_rand), fmt::format("{:.6f}", found.variation),
                    fmt::format("{:.6f}", found.normalised_variation), fmt::format("{:.2f} %", 100 * found.kept),
                    fmt::format("{:.2f} %", 100 * found.kept_back)});
    json.push_back({{"eps", variant.eps},
                    {"minpts", variant.minpts},
                    {"points", table.points()},
                    {"clusters_a", a.clusters},
                    {"clusters_b", b.clusters},
                    {"noise_a", a.noise},
                    {"noise_b", b.noise}});
    add_agreement(json.back(), table);
  }
  const Side& a = *pairs.front()[0].side;
  const Side& b = *pairs.front()[1].side;
  const std::size_t only_a = a.results->entries.size() - pairs.size();
  const std::size_t only_b = b.results->entries.size() - pairs.size();
  if (command.messages.json) {
    print_json(
        {{"a", a.path.string()}, {"b", b.path.string()}, {"only_a", only_a}, {"only_b", only_b}, {"variants", json}});
  } else if (!command.messages.quiet) {
    print_columns(rows);
    print_result("{} in both; A is {} with {} more, B is {} with {} more\n", format_count(pairs.size(), "variant"),
                 a.path.string(), only_a, b.path.string(), only_b);
  }
}

int run_compare(const Arguments& arguments) {
  const CompareCommand command = parse_compare(arguments);
  std::vector<Side> sides;
  for (const std::string& operand : command.operands) sides.push_back(side_of(operand));
  const std::vector<LabellingPair> pairs = pairs_of(sides, command.cells);
  if (sides.size() == 2 && sides[0].results && sides[1].results && command.cells.empty()) {
    compare_all(pairs, command);
    return kDone;
  }
  const Contingency table = compared(pairs.front(), command);
  if (command.messages.json) {
    print_comparison_as_json(pairs.front(), table, command.most.value_or(0));
  } else if (!command.messages.quiet) {
    print_comparison(pairs.front(), table, *command.most);
  }
  return kDone;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "tell how far two labellings agree, and which cluster became which",
          .usage = "A [B] [--cell EPS:MINPTS [--cell EPS:MINPTS]]",
          .about =
              "Compares two labellings of the same points, A and B: files of labels of any kind that epsflow writes,\n"
              "or variants of results folders. One folder with two cells compares these; two folders without a cell\n"
              "compare every variant that both have, a row each.\n\n"
              "The adjusted Rand index is 1 for equal partitions and about 0 for independent ones. The variation of\n"
              "information is 0 for equal ones, and at most ln n. In both, noise is a class of its own. Purity is\n"
              "the share of the points in clusters of A that are in the cluster of B which holds most of their\n"
              "cluster of A, and likewise back.\n\n"
              "The table has the clusters of A, largest first, and its noise: the cluster of B that has most of\n"
              "their points, how many these are, of A's cluster and of B's; into how many clusters of B they went,\n"
              "and how many points became noise. JSON has all parts of all clusters.",
          .example = "epsflow compare results --cell 0.2:8 --cell 0.3:8",
          .operand = {"A [B]"},
          .groups = {{"What to compare",
                      {several(text_option(
                           "cell", "EPS:MINPTS",
                           "the variant of a results folder; given twice, the first is of A and the second of B")),
                       text_option("eps", "EPS", "with --minpts: the variant of both"),
                       minpts_option("N", "with --eps: the variant of both"),
                       several(text_option(
                           "columns", "NAME",
                           "the column of labels in files; given twice, the first is of A and the second of "
                           "B (default: the one called label, or the only one)")),
                       spec_of<io::ReadOptions>("table")}},
                     {"Results", {count_option("most", 1, "20", "how many clusters of A to show")}},
                     {"What to use of the machine", {spec_of<EngineOptions>("threads")}},
                     message_options()},
          .run = run_compare};
}

}  // namespace epsflow::cli
