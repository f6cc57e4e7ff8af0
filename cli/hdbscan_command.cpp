#include <cmath>

#include <epsflow/cli/catalogs.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/structure_files.hpp>
#include <epsflow/cli/sweep_results.hpp>
#include <epsflow/io/results/results_files.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_table.hpp>

namespace epsflow::cli {
namespace {

struct HdbscanCommand {
  std::vector<std::uint32_t> minpts;
  std::vector<std::uint32_t> sizes;  ///< the values of --min-cluster-size
  SelectionOptions selection;
  SweepCommand folder = {};  ///< the options that sweep has, too

  [[nodiscard]] std::vector<Variant> variants() const {
    std::vector<Variant> all;
    for (const std::uint32_t m : minpts) {
      for (const std::uint32_t size : sizes) all.push_back({0, m, size});
    }
    return all;
  }
};

/// Throws UsageError for a value below `least` or above the number of points.
void require_values(std::string_view option, const std::vector<std::uint32_t>& values, std::uint64_t least,
                    std::uint64_t points) {
  if (points < least) {
    throw usage_error("--{} needs at least {}, and the input has {}: give more", option, format_count(least, "point"),
                      format_count(points, "point"));
  }
  for (const std::uint32_t value : values) {
    if (value >= least && value <= points) continue;
    throw usage_error("--{} {} is not valid, of {}: give numbers from {} to the number of points", option, value,
                      format_count(points, "point"), least);
  }
}

HdbscanCommand parse_hdbscan(const Arguments& arguments) {
  constexpr std::string_view kSize = "min-cluster-size";
  arguments.require({"minpts", std::string(kSize), "out"});
  HdbscanCommand command{
      .minpts = parse_minpts_list(arguments.text("minpts")),
      .sizes = parse_minpts_list(arguments.text(kSize), "min_cluster_size"),
      .selection = {.method = choice_of<ClusterSelection>(arguments.text("selection")).value(),
                    .epsilon = arguments.decimal("selection-epsilon", "a finite number from 0 on",
                                                 [](double x) { return x >= 0 && std::isfinite(x); }),
                    .max_size = arguments.number("max-cluster-size"),
                    .allow_single_cluster = arguments.given("allow-single-cluster")}};
  if (std::ranges::count(command.sizes, 1U) > 0)
    throw usage_error("--{} 1 is not valid: give numbers from 2 on", kSize);
  const std::uint64_t most = command.selection.max_size;
  if (most > 0 && command.selection.method != ClusterSelection::eom) {
    throw usage_error("--max-cluster-size is for --selection eom; leave one of them out");
  }
  if (const std::uint32_t least = std::ranges::max(command.sizes); most > 0 && most < least) {
    throw usage_error("--max-cluster-size {} is below --min-cluster-size {}; raise one, or lower the other", most,
                      least);
  }
  require_catalog_of_stats(arguments);
  SweepCommand& folder = command.folder = parse_sweep_command(arguments, {});
  folder.outputs.resumable = false;
  parse_report_of(arguments, folder);
  return command;
}

/// The clusters of a variant, while its files are written.
struct Selection {
  std::optional<CondensedTree> tree;
  SelectedClusters found;
  Buffer<double> outlier_scores;

  [[nodiscard]] double mean_persistence() const {
    double sum = 0;
    for (const double persistence : found.persistence) sum += persistence;
    return found.nodes.empty() ? 0 : sum / static_cast<double>(found.nodes.size());
  }

  /// Returns the counts. Every point of a cluster counts as core.
  [[nodiscard]] LabelSummary summary() const {
    LabelSummary counts{.clusters = found.nodes.size()};
    std::vector<std::uint64_t> sizes(found.nodes.size());
    for (const std::int32_t label : found.labels) {
      if (label == kNoise) continue;
      ++counts.core;
      counts.largest = std::max(counts.largest, ++sizes[static_cast<std::size_t>(label)]);
    }
    counts.noise = found.labels.size() - counts.core;
    return counts;
  }

  /// Adds the columns of the tree to a catalogue.
  void add_columns(Table& catalog, const std::string& unit) const {
    std::vector<double> birth, death;
    for (const std::uint32_t node : found.nodes) {
      birth.push_back(tree->clusters()[node].birth);
      death.push_back(tree->clusters()[node].death);
    }
    catalog.push_back({"birth", std::move(birth), unit});
    catalog.push_back({"death", std::move(death), unit});
    catalog.push_back({"persistence", found.persistence});
  }
};

/// The objects that write the files of a variant.
struct SelectionWriters {
  Selection current;
  std::optional<Cataloguing> cataloguing;

  /// Returns the writers for the folder. They hold references to this object.
  [[nodiscard]] std::vector<io::VariantWriter> writers(const HdbscanCommand& command, const io::FilePoints& points) {
    const Input& input = command.folder.input;
    std::vector<io::VariantWriter> all{numbers(io::kProbabilitiesFolder, current.found.probabilities, points.size())};
    // The sizes of a minpts share a tree in hierarchy.npz: up to 40 bytes a point, as docs/howto/files.md lists them.
    all.front().bytes += 40 * points.size() / command.sizes.size();
    const auto& wanted = command.folder.outputs.wanted;
    if (command.folder.outputs.wants(io::kOutlierScoresFolder)) {
      all.push_back(numbers(io::kOutlierScoresFolder, current.outlier_scores, points.size()));
    }
    if (const auto labelled = wanted.find(io::kLabelledFolder); labelled != wanted.end()) {
      all.push_back(
          labelled_writer(input, points, labelled->second, {.probability = true}, &current.found.probabilities));
    }
    if (const auto catalog = wanted.find(io::kCatalogFolder); catalog != wanted.end()) {
      cataloguing.emplace(input, points, nullptr);
      all.push_back(cataloguing->writer(catalog->second, [this, unit = std::string(eps_unit(input.metric))](
                                                             Table& table) { current.add_columns(table, unit); }));
    }
    return all;
  }

 private:
  static io::VariantWriter numbers(const char* folder, const Buffer<double>& values, std::uint64_t points) {
    return {.folder = folder,
            .extension = ".npy",
            .bytes = points * sizeof(double),
            .write = [&values](const auto& file, const auto& target, const VariantResult&) {
              static_cast<void>(io::write_array(file, target, io::npy_numbers(values.span())));
            }};
  }
};

int run_hdbscan(const Arguments& arguments) {
  HdbscanCommand command = parse_hdbscan(arguments);
  SweepCommand& common = command.folder;
  Input& input = common.input;
  const std::vector<Variant> variants = command.variants();
  io::ResultsFolder folder(common.out, variants, common.mode, common.outputs, input.messages.notices());
  const io::FilePoints points = read_points(input, common.settings);
  if (points.weights.empty()) require_values("minpts", command.minpts, 1, points.size());
  require_values("min-cluster-size", command.sizes, 2, points.size());

  SelectionWriters made;
  Selection& current = made.current;
  const io::ResultsInput described = io::results_input(points);
  static_cast<void>(folder.begin(described, describe_run(common.given, input.metric, common.settings.engine.backend),
                                 made.writers(command, points)));
  SweepRun run(common, &folder, described, &input.metric, variants.size());
  const int code = run.run([&](const Observer& observer) {
    const io::SharedResults shared = folder.shared();
    TreeWriter arrays(shared.partial / io::partial_name(io::kHierarchyName), shared.folder / io::kHierarchyName);
    Stopwatch time;
    const auto add = [&](const Hierarchy& tree) {
      const double share = time.seconds() / static_cast<double>(command.sizes.size());
      arrays.add(tree);
      for (const std::uint32_t size : command.sizes) {
        time = {};
        current = {};
        const CancelToken& cancel = *observer.cancel;
        current.tree.emplace(tree, size, cancel);
        current.found = current.tree->select(command.selection, cancel);
        if (common.outputs.wants(io::kOutlierScoresFolder)) {
          current.outlier_scores = current.tree->outlier_scores(cancel);
        }
        const VariantResult result{.variant = {0, tree.minpts(), size},
                                   .labels = Labels(current.found.labels.span()),
                                   .summary = current.summary(),
                                   .seconds = share + time.seconds()};
        folder.add(result, current.mean_persistence());
        arrays.add(result.variant, *current.tree, current.found.nodes);
      }
      current = {};
      time = {};
    };
    Observer watching = observer;
    watching.on_progress = [&](Progress progress) {  // a tree is a result for each size
      progress.variants *= command.sizes.size();
      progress.variants_done *= command.sizes.size();
      observer.on_progress(progress);
    };
    each_hierarchy({points, input.metric, points.weights}, command.minpts, add, common.settings.engine, watching);
    observer.cancel->check();
    folder.add_file(io::kHierarchyName, [&](const auto&) { arrays.close(); });
  });
  if (code == kDone && !common.report.empty()) write_report(common, "hdbscan", points);
  return code;
}

}  // namespace

Command hdbscan_command() {
  const Words tables{"csv", "fits", "h5", "parquet"};
  OptionSpec max_size = count_option("max-cluster-size", 0, "0", "points of the largest cluster that eom selects");
  max_size.zero = "no limit";
  return {
      .name = "hdbscan",
      .summary = "select clusters in the tree of all eps (HDBSCAN*), into a results folder",
      .usage = "FILE … --minpts LIST --min-cluster-size LIST --out FOLDER",
      .about =
          "Makes the tree of the clusters of all eps (HDBSCAN*) for every minpts from one search, and selects\n"
          "clusters in it for every min_cluster_size. Writes labels, probabilities, hierarchy.npz, summary.csv,\n"
          "sweep.json and trace.json to a folder. Which points are together does not depend on the order of rows.\n"
          "With --weight, minpts is a sum of weights; sizes of clusters are numbers of points all the same. All\n"
          "points are one data set: sweep has --by.\n\n"
          "A LIST is a comma list of whole numbers and ranges, as of sweep: 5,10 or 5:50:5.",
      .example = "epsflow hdbscan points.csv --columns x,y --minpts 2,3 --min-cluster-size 2,3 --out trees",
      .operand = {"FILE …"},
      .groups =
          {{"What to cluster",
            {minpts_option("LIST", "points within eps that make a core point, itself counted; one tree for each"),
             text_option("min-cluster-size", "LIST", "points of the smallest clusters; every minpts with every size"),
             word_option("selection", {"eom", "leaf"}, "eom",
                         "clusters to select: those of the largest total stability (excess of mass), or those that do "
                         "not split"),
             text_option("selection-epsilon", "EPS",
                         "clusters that begin below this eps are merged into the one that they separated from", "0"),
             std::move(max_size), flag("allow-single-cluster", "the cluster of all points may be selected")}},
           metric_options(),
           {"Results",
            {folder_option("out", "folder to write to", true),
             flag("overwrite", "replace the results that the folder holds by the new ones once these are complete"),
             report_option("page for a browser, with all that epsflow report makes of the folder"),
             flag("outlier-scores", "write how far each point is from its cluster in density (GLOSH), 0 to 1, as well"),
             word_option("labelled", tables, "",
                         "write the columns of the input with label and probability beside them, labelled/…: every "
                         "column from text to csv and from FITS to fits, else the coordinates"),
             word_option("catalog", tables, "",
                         "write the clusters as well, a row for each, catalog/…: size, of the coordinates centre, "
                         "spread, ends and radius, and birth, death and persistence"),
             stats_option()}},
           input_options(),
           machine_options(),
           message_options()},
      .run = run_hdbscan};
}

}  // namespace epsflow::cli
