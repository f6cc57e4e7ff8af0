#include <epsflow/io/read/hdf5/hdf5_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/hdf5/hdf5_file.hpp>
#include <epsflow/io/read/hdf5/hdf5_frame.hpp>
#include <epsflow/io/read/hdf5/hdf5_pandas.hpp>

namespace epsflow::io {
namespace {

using Object = Hdf5File::Object;

/// What may be read: paths of data sets, and of groups with data frames.
struct Candidate {
  std::string path;
  bool is_frame = false;
};

class CandidateFinder {
 public:
  explicit CandidateFinder(const Hdf5File& file) : file_(file) {}

  std::vector<Candidate> find() {
    seen_.insert(file_.address_of("/"));
    visit("", 0);
    return std::move(found_);
  }

 private:
  // No archive nests this deep or holds this many.
  static constexpr int kDeepest = 16;
  static constexpr std::size_t kMost = 10000;

  void visit(const std::string& group, int depth) {
    for (const std::string& name : file_.list(group.empty() ? "/" : group)) {
      if (found_.size() >= kMost) return;
      const std::string path = group + "/" + name;
      const Object object = file_.kind_of(path);
      // Hard links may form cycles.
      if (object == Object::none || !seen_.insert(file_.address_of(path)).second) continue;
      if (object == Object::dataset) found_.push_back({path, false});
      if (object != Object::group) continue;
      if (is_pandas_frame(file_, path)) {
        found_.push_back({path, true});
      } else if (depth < kDeepest) {
        visit(path, depth + 1);
      }
    }
  }

  const Hdf5File& file_;
  std::set<std::uint64_t> seen_;
  std::vector<Candidate> found_;
};

std::string join(const std::vector<Candidate>& candidates) {
  constexpr std::size_t kShown = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(candidates.size(), kShown); ++i) {
    const std::string shown = show_text(candidates[i].path);
    text.append(i == 0 ? "" : ", ").append(shown, 1, shown.size() - 2);
  }
  if (candidates.size() > kShown) text += fmt::format(" and {} more", candidates.size() - kShown);
  return text.empty() ? "none" : text;
}

Hdf5Frame describe(const Hdf5File& file, const Candidate& candidate) {
  return candidate.is_frame ? frame_of_pandas(file, candidate.path) : frame_of_dataset(file, candidate.path);
}

/// The columns asked for as paths below a group, each a data set of one axis.
Hdf5Frame frame_of_paths(const Hdf5File& file, const std::string& group) {
  const Source& source = file.source();
  Hdf5Frame frame;
  frame.is_chosen = true;
  for (const std::string& wanted : source.options.columns) {
    const std::string path = wanted.starts_with('/') ? wanted : group + "/" + wanted;
    if (file.kind_of(path) != Object::dataset) {
      throw InputError(fmt::format("{}: there is no data set {}; ReadOptions::columns may choose from: {}", source.name,
                                   show_text(path), join(CandidateFinder(file).find())));
    }
    Hdf5Dataset dataset = describe_hdf5_dataset(file, path);
    if (dataset.why_not.empty() && dataset.is_table) dataset.why_not = "is a table";
    if (dataset.why_not.empty() && dataset.axes != 1) dataset.why_not = "has two axes";
    if (!dataset.why_not.empty()) {
      throw InputError(
          fmt::format("{}: the data set {} {}; as one of several columns it needs one axis of numbers: read "
                      "it alone with ReadOptions::table, and choose of its own columns",
                      source.name, show_text(path), dataset.why_not));
    }
    for (const Hdf5Dataset& other : frame.datasets) {
      if (other.path == path) {
        throw UsageError(fmt::format("ReadOptions::columns names {} of {} twice; give every column once",
                                     show_text(path), source.name));
      }
    }
    if (!frame.datasets.empty() && dataset.rows != frame.datasets[0].rows) {
      throw InputError(fmt::format("{}: {} has {}, but {} has {}; columns of points need the same length", source.name,
                                   show_text(frame.datasets[0].path), format_count(frame.datasets[0].rows, "row"),
                                   show_text(path), format_count(dataset.rows, "row")));
    }
    frame.kind += (frame.datasets.empty() ? "HDF5 data sets " : ", ") + path;
    add_column(frame, {.dataset = frame.datasets.size()}, path.substr(path.find_first_not_of('/')));
    frame.datasets.push_back(std::move(dataset));
  }
  return frame;
}

/// The frame that ReadOptions::table names.
Hdf5Frame frame_of_table(const Hdf5File& file) {
  const Source& source = file.source();
  std::string path = source.options.table;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const Object object = file.kind_of(path);
  if (object == Object::dataset) return frame_of_dataset(file, path);
  if (object == Object::group && is_pandas_frame(file, path)) return frame_of_pandas(file, path);
  if (object == Object::group && !source.options.columns.empty()) {
    return frame_of_paths(file, path == "/" ? std::string() : path.starts_with('/') ? path : "/" + path);
  }
  const std::string list = join(CandidateFinder(file).find());
  if (object == Object::group) {
    throw InputError(
        fmt::format("{}: {} is a group; choose a data set in it with ReadOptions::table, or several of one axis with "
                    "ReadOptions::columns, from: {}",
                    source.name, show_text(path), list));
  }
  throw InputError(fmt::format("{}: there is no data set {}; ReadOptions::table may choose from: {}", source.name,
                               show_text(path), list));
}

/// Of several data sets of one axis and one length, how to name them as columns of one set of points; or nothing.
std::string describe_columns(const std::vector<Hdf5Frame>& frames) {
  std::vector<std::string> paths;
  for (const Hdf5Frame& frame : frames) {
    const Hdf5Dataset& dataset = frame.datasets[0];
    if (frame.datasets.size() > 1 || dataset.is_table || dataset.axes != 1) continue;
    if (!paths.empty() && dataset.rows != frames[0].datasets[0].rows) continue;
    paths.push_back(dataset.path);
  }
  if (paths.size() < 2) return {};
  return fmt::format(", or columns of one length with ReadOptions::columns, as {},{}", paths[0], paths[1]);
}

bool are_paths(const Hdf5File& file, const std::vector<std::string>& columns) {
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return file.kind_of(column.starts_with('/') ? column : "/" + column) == Object::dataset;
  });
}

/// The only data set or frame that can give what is asked for.
Hdf5Frame find_frame(const Hdf5File& file) {
  const Source& source = file.source();
  const std::vector<std::string>& columns = source.options.columns;
  if (std::any_of(columns.begin(), columns.end(), [](const std::string& c) { return c.starts_with('/'); })) {
    return frame_of_paths(file, {});
  }
  const std::vector<Candidate> candidates = CandidateFinder(file).find();
  // The only one there is gets to say what is wrong with it.
  if (candidates.size() == 1 && !are_paths(file, columns)) return describe(file, candidates[0]);
  std::vector<Candidate> suitable;
  std::vector<Hdf5Frame> frames;
  for (const Candidate& candidate : candidates) {
    Hdf5Frame frame = describe(file, candidate);
    if (!is_suitable(frame, source)) continue;
    suitable.push_back(candidate);
    frames.push_back(std::move(frame));
  }
  if (frames.size() == 1) return std::move(frames[0]);
  if (frames.empty() && are_paths(file, columns)) return frame_of_paths(file, {});
  if (frames.empty()) {
    throw InputError(
        fmt::format("{}: no data set holds {}; choose one with ReadOptions::table from: {}", source.name,
                    columns.empty() ? "nothing but numbers in one or two axes" : "the columns asked for, as numbers",
                    join(candidates)));
  }
  throw InputError(
      fmt::format("{}: several data sets could be the points; choose one with ReadOptions::table from: {}{}",
                  source.name, join(suitable), describe_columns(frames)));
}

}  // namespace

void read_hdf5_here(LibraryFile file, const Source& source, PointsSink& points) {
  const Hdf5File opened(std::move(file), source);
  read_frame(source.options.table.empty() ? find_frame(opened) : frame_of_table(opened), opened, points);
}

Points read_hdf5(ByteStream& stream, const Source& source) {
  LibraryFile file = library_file(stream, source);
  // Held here, so that no other thread is within the library when the child takes over its memory.
  const Hdf5Session session;
  return read_in_child(source, "libhdf5", [&](PointsSink& points) { read_hdf5_here(std::move(file), source, points); });
}

}  // namespace epsflow::io
