#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/format.hpp>
#include <epsflow/io/read/hdf5/hdf5_columns.hpp>
#include <epsflow/io/read/hdf5/hdf5_file.hpp>

namespace epsflow::io {
namespace {

/// True if the group was written by pandas' to_hdf, which stores the names of columns as pickled objects.
bool is_of_pandas(const Hdf5File& file, const std::string& group) {
  return read_text(file.open_object(group).get(), "pandas_type").starts_with("frame");
}

/// Lists the paths of the data sets of a file, without the parts of data frames of pandas.
class DatasetFinder {
 public:
  explicit DatasetFinder(const Hdf5File& file) : file_(file) {
    seen_.insert(file_.address_of("/"));
    visit("", 0);
  }

  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return found_; }
  /// Returns a group with a data frame; empty if there is none.
  [[nodiscard]] const std::string& frame() const noexcept { return frame_; }

 private:
  // Limits far beyond real archives.
  static constexpr int kDeepest = 16;
  static constexpr std::size_t kMost = 10000;

  void visit(const std::string& group, int depth) {
    for (const std::string& name : file_.list(group.empty() ? "/" : group)) {
      if (found_.size() >= kMost) return;
      const std::string path = group + "/" + name;
      const Hdf5Object object = file_.kind_of(path);
      // Hard links may form cycles.
      if (object == Hdf5Object::none || !seen_.insert(file_.address_of(path)).second) continue;
      if (object == Hdf5Object::dataset) found_.push_back(path);
      if (object != Hdf5Object::group) continue;
      if (is_of_pandas(file_, path)) {
        frame_ = path;
      } else if (depth < kDeepest) {
        visit(path, depth + 1);
      }
    }
  }

  const Hdf5File& file_;
  std::set<std::uint64_t> seen_;
  std::vector<std::string> found_;
  std::string frame_;
};

std::string join(const std::vector<std::string>& paths) { return paths.empty() ? "none" : list_of(paths, show_name); }

[[noreturn]] void throw_pandas(const Source& source, const std::string& group, const std::vector<std::string>& others) {
  throw source.error(
      "{} is a data frame written by pandas; write it as Parquet (to_parquet), or read it with pandas and hand the "
      "frame to the Python package{}",
      show_text(group),
      others.empty() ? "" : "; a data set beside it can be chosen with ReadOptions::table from: " + join(others));
}

/// Returns the columns that the options name as paths below a group: data sets of one axis, the weights last.
Hdf5Columns columns_of_paths(const Hdf5File& file, const std::string& group) {
  const Source& source = file.source();
  std::vector<std::string> columns = source.options.columns;
  const std::size_t coordinates = columns.size();
  if (!source.options.weight.empty()) columns.push_back(source.options.weight);
  Hdf5Columns table;
  table.is_chosen = true;
  for (const std::string& wanted : columns) {
    const bool is_weight = table.datasets.size() == coordinates;
    const std::string path = wanted.starts_with('/') ? wanted : group + "/" + wanted;
    if (file.kind_of(path) != Hdf5Object::dataset) {
      throw source.error("there is no data set {}; {} may choose from: {}", show_text(path),
                         is_weight ? kWeightOption : kColumnsOption, join(DatasetFinder(file).paths()));
    }
    Hdf5Dataset dataset = describe_hdf5_dataset(file, path);
    if (dataset.why_not.empty() && dataset.is_table) dataset.why_not = "is a table";
    if (dataset.why_not.empty() && dataset.axes != 1) dataset.why_not = "has two axes";
    if (!dataset.why_not.empty()) {
      throw source.error(
          "the data set {} {}; as one of several columns it needs one axis of numbers: read it alone with "
          "ReadOptions::table, and choose of its own columns",
          show_text(path), dataset.why_not);
    }
    for (const Hdf5Dataset& other : table.datasets) {
      if (other.path == path && !is_weight) throw_named_twice(source, show_text(path));
    }
    if (!table.datasets.empty() && dataset.rows != table.datasets[0].rows) {
      throw source.error("{} has {}, but {} has {}; columns of points need the same length",
                         show_text(table.datasets[0].path), format_count(table.datasets[0].rows, "row"),
                         show_text(path), format_count(dataset.rows, "row"));
    }
    table.kind += (table.datasets.empty() ? "HDF5 data sets " : ", ") + path;
    add_column(table, {.dataset = table.datasets.size()}, path.substr(path.find_first_not_of('/')));
    table.datasets.push_back(std::move(dataset));
  }
  return table;
}

Hdf5Columns named_table(const Hdf5File& file) {
  const Source& source = file.source();
  std::string path = source.options.table;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const Hdf5Object object = file.kind_of(path);
  if (object == Hdf5Object::dataset) return columns_of_dataset(file, path);
  if (object == Hdf5Object::group && is_of_pandas(file, path)) throw_pandas(source, path, {});
  if (object == Hdf5Object::group && !source.options.columns.empty()) {
    return columns_of_paths(file, path == "/" ? std::string() : path.starts_with('/') ? path : "/" + path);
  }
  const std::string list = join(DatasetFinder(file).paths());
  if (object == Hdf5Object::group) {
    throw source.error(
        "{} is a group; choose a data set in it with ReadOptions::table, or several of one axis with "
        "ReadOptions::columns, from: {}",
        show_text(path), list);
  }
  throw source.error("there is no data set {}; ReadOptions::table may choose from: {}", show_text(path), list);
}

/// Returns advice for errors: how to name data sets of one axis and one length as columns. Empty if there are none.
std::string describe_columns(const std::vector<Hdf5Columns>& tables) {
  std::vector<std::string> paths;
  for (const Hdf5Columns& table : tables) {
    const Hdf5Dataset& dataset = table.datasets[0];
    if (table.datasets.size() > 1 || dataset.is_table || dataset.axes != 1) continue;
    if (!paths.empty() && dataset.rows != tables[0].datasets[0].rows) continue;
    paths.push_back(dataset.path);
  }
  if (paths.size() < 2) return {};
  return fmt::format(", or columns of one length with ReadOptions::columns, as {},{}", paths[0], paths[1]);
}

bool are_paths(const Hdf5File& file, const std::vector<std::string>& columns) {
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return file.kind_of(column.starts_with('/') ? column : "/" + column) == Hdf5Object::dataset;
  });
}

/// Returns the only data set that has the columns that the options select.
Hdf5Columns find_table(const Hdf5File& file) {
  const Source& source = file.source();
  const std::vector<std::string>& columns = source.options.columns;
  if (std::any_of(columns.begin(), columns.end(), [](const std::string& c) { return c.starts_with('/'); })) {
    return columns_of_paths(file, {});
  }
  if (is_snapshot(file) && !are_paths(file, columns)) return columns_of_snapshot(file);
  const DatasetFinder finder(file);
  const std::vector<std::string>& paths = finder.paths();
  if (!finder.frame().empty()) throw_pandas(source, finder.frame(), paths);
  // If there is only one, its error is more useful than a list.
  if (paths.size() == 1 && !are_paths(file, columns)) return columns_of_dataset(file, paths[0]);
  std::vector<std::string> suitable;
  std::vector<Hdf5Columns> tables;
  for (const std::string& path : paths) {
    Hdf5Columns table = columns_of_dataset(file, path);
    if (!is_suitable(table, source)) continue;
    suitable.push_back(path);
    tables.push_back(std::move(table));
  }
  if (tables.size() == 1) return std::move(tables[0]);
  if (tables.empty() && are_paths(file, columns)) return columns_of_paths(file, {});
  if (tables.empty()) {
    throw source.error("no data set holds {}; choose one with ReadOptions::table from: {}",
                       columns.empty() && source.options.weight.empty() ? "nothing but numbers in one or two axes"
                                                                        : "the columns asked for, as numbers",
                       join(paths));
  }
  throw source.error("several data sets could be the points; choose one with ReadOptions::table from: {}{}",
                     join(suitable), describe_columns(tables));
}

void parse_hdf5(const LibraryFile& file, const Source& source, ValueSink& points) {
  const Hdf5Session session;
  const Hdf5File opened(file, source);
  const Hdf5Columns table = source.options.table.empty() ? find_table(opened) : named_table(opened);
  if (table.standard.empty() && source.options.particles != ReadOptions().particles) {
    throw source.error<UsageError>(
        "{} is read, which is no snapshot of SWIFT, Gadget-4 or Arepo, and ReadOptions::particles is for those; leave "
        "it out, or ReadOptions::table",
        table.kind);
  }
  read_columns(table, opened, file.memory_taken, points);
}

}  // namespace

Reader hdf5_reader() {
  return {.parse = parse_hdf5, .parse_neighbors = parse_hdf5_neighbors, .library = "libhdf5", .version = [] {
            const Hdf5Session session;  // Hdf5Session must be the first user of the library.
            unsigned major = 0;
            unsigned minor = 0;
            unsigned release = 0;
            H5get_libversion(&major, &minor, &release);
            return fmt::format("libhdf5 {}.{}.{}", major, minor, release);
          }};
}

}  // namespace epsflow::io
