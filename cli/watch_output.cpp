#include <epsflow/cli/watch_output.hpp>

#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/write/csv_writer.hpp>

namespace epsflow::cli {
namespace {

/// The first bytes of a snapshot. The checksum of all later bytes and a line end follow.
constexpr std::string_view kBegin = "epsflow watch 2 ";
constexpr std::size_t kChecksumDigits = 8;

struct TextSink {
  std::string text;
  void write(std::string_view more) { text += more; }
};

std::string events_of(std::uint64_t step, const Window& window, bool all) {
  const WindowResult& result = window.results().front();
  const auto list = [](std::span<const std::uint32_t> members, const std::vector<WindowCluster>& clusters,
                       std::uint64_t WindowCluster::*value) {
    auto values = nlohmann::ordered_json::array();
    for (const std::uint32_t k : members) values.push_back(clusters[k].*value);
    return values;
  };
  std::string text;
  for (std::size_t i = 0; i < result.changes.size(); ++i) {
    const ClusterChanges::Change change = result.changes[i];
    if (change.kind == ClusterChange::continued && !all) continue;
    const nlohmann::ordered_json line{{"step", step},
                                      {"time", *window.latest()},
                                      {"event", word_of(change.kind)},
                                      {"before", list(change.before, result.earlier, &WindowCluster::id)},
                                      {"sizes_before", list(change.before, result.earlier, &WindowCluster::points)},
                                      {"after", list(change.after, result.clusters, &WindowCluster::id)},
                                      {"sizes_after", list(change.after, result.clusters, &WindowCluster::points)}};
    text += line.dump() + "\n";
  }
  return text;
}

/// Returns a table whose first columns are the step, its time and the ids of the clusters.
Table begin_table(std::array<const char*, 3> names, std::uint64_t step, double time,
                  const std::vector<std::int64_t>& ids) {
  return {{names[0], std::vector<std::int64_t>(ids.size(), static_cast<std::int64_t>(step))},
          {names[1], std::vector<double>(ids.size(), time)},
          {names[2], ids}};
}

struct StepTables {
  Table catalog, tracks;
};

StepTables tables_of(const Catalog& catalog, const std::vector<std::int64_t>& ids, std::uint64_t step, double time,
                     const WatchOutputOptions& options) {
  StepTables tables{.catalog = begin_table({"step", "time", "id"}, step, time, ids),
                    .tracks = begin_table({"frame", "time", "cell"}, step, time, ids)};
  Table columns = table_of(catalog, options.metric, {.coordinates = options.columns});
  std::ranges::move(columns, std::back_inserter(tables.catalog));
  tables.tracks.push_back({"num", std::vector<std::int64_t>(catalog.size.begin(), catalog.size.end())});
  constexpr std::string_view kLetters = "xyz";
  for (std::size_t k = 0; k < catalog.dims; ++k) {
    std::vector<double> center;
    for (std::size_t c = 0; c < catalog.count(); ++c) center.push_back(catalog.center[c * catalog.dims + k]);
    const bool has_letter = catalog.dims <= kLetters.size();
    tables.tracks.push_back({has_letter ? std::string(1, kLetters[k]) : fmt::format("x{}", k), std::move(center)});
  }
  return tables;
}

template <class T>
void put(std::string& to, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Takes values from the front of `from`.
template <class T>
std::vector<T> take(std::string_view& from, std::size_t count) {
  if (count > from.size() / sizeof(T)) throw InputError("it is too short");
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), from.data(), count * sizeof(T));
  from.remove_prefix(count * sizeof(T));
  return values;
}

WatchSnapshot parse_snapshot(std::string_view text) {
  const auto checksum =
      text.starts_with(kBegin) ? io::parse_checksum(text.substr(kBegin.size(), kChecksumDigits)) : std::nullopt;
  if (!checksum) throw InputError("it is not a snapshot of this version");
  text.remove_prefix(kBegin.size() + kChecksumDigits);
  io::Checksum sum;
  sum.add(text);
  if (sum.value() != *checksum || !text.starts_with('\n')) throw InputError("its checksum is not right");
  text.remove_prefix(1);
  const std::size_t line = std::min(text.find('\n'), text.size());
  WatchSnapshot snapshot{.about = nlohmann::ordered_json::parse(text.substr(0, line)), .window = {}};
  text.remove_prefix(std::min(line + 1, text.size()));
  const auto& header = snapshot.about.at("window");
  WindowState& window = snapshot.window;
  window.dims = header.at("dims");
  window.next_id = header.at("next_id");
  if (!header.at("latest").is_null()) window.latest = header.at("latest").get<double>();
  const std::size_t n = header.at("points");
  window.ids = take<std::uint64_t>(text, n);
  window.points = take<double>(text, n * window.dims);
  window.times = take<double>(text, n);
  window.variants.push_back({.next = header.at("next_cluster"), .clusters = {}});
  window.variants.back().clusters = take<std::uint64_t>(text, header.at("clusters"));
  return snapshot;
}

}  // namespace

WatchOutput::WatchOutput(const std::filesystem::path& folder, const WatchSizes& sizes, WatchOutputOptions options)
    : options_(std::move(options)), sizes_(sizes) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::filesystem::path file = folder / kWatchFiles[i];
    std::error_code code;
    const bool exists = std::filesystem::exists(file, code);
    if ((exists ? std::filesystem::file_size(file, code) : 0) < sizes[i]) {
      throw input_error("{} is shorter than the {} that the snapshot needs: choose another folder", file.string(),
                        format_count(sizes[i], "byte"));
    }
    if (exists) std::filesystem::resize_file(file, sizes[i], code);
    if (code) io::throw_cannot_write(file, code.value());
    files_[i] = std::make_unique<io::FileStream>(file, file, sizes[i]);
  }
  Catalog none;
  none.dims = options_.columns.size();
  none.has_core = true;
  const StepTables empty = tables_of(none, {}, 0, 0, options_);
  if (sizes[kCatalog] == 0) append_rows(kCatalog, empty.catalog, true);
  if (sizes[kTracks] == 0) append_rows(kTracks, empty.tracks, true);
}

void WatchOutput::add(std::uint64_t step, const Window& window) {
  const WindowResult& result = window.results().front();
  const std::vector<double> points = window.points();
  Catalog found = catalog({.points = PointsView(std::span(points), window.dims()),
                           .metric = options_.metric,
                           .labels = result.labels,
                           .core = result.core});
  std::vector<std::int64_t> ids;
  for (std::size_t c = 0; c < found.count(); ++c) {
    const WindowCluster& cluster = result.clusters[static_cast<std::size_t>(found.cluster[c])];
    ids.push_back(static_cast<std::int64_t>(cluster.id));
    found.first_core[c] = cluster.first_core;
  }
  const StepTables tables = tables_of(found, ids, step, *window.latest(), options_);
  append(kEvents, events_of(step, window, options_.all_events));
  append_rows(kCatalog, tables.catalog, false);
  append_rows(kTracks, tables.tracks, false);
}

void WatchOutput::append_rows(std::size_t file, const Table& table, bool header) {
  TextSink sink;
  io::CsvWriter csv(sink);
  if (header) {
    for (const TableColumn& column : table) csv.text(column.name);
    csv.end_row();
  }
  for (std::size_t row = 0; row < table.front().size(); ++row) {
    for (const TableColumn& column : table) {
      std::visit([&](const auto& values) { csv.value(values[row]); }, column.values);
    }
    csv.end_row();
  }
  csv.flush();
  append(file, sink.text);
}

void WatchOutput::append(std::size_t file, const std::string& text) {
  files_[file]->write(text);
  sizes_[file] += text.size();
}

void WatchOutput::sync() {
  for (const auto& file : files_) file->sync();
}

void write_snapshot(const std::filesystem::path& file, const WatchSnapshot& snapshot) {
  const WindowState& window = snapshot.window;
  const WindowState::Ids& clusters = window.variants.front();
  nlohmann::ordered_json about = snapshot.about;
  about["window"] = {{"dims", window.dims}, {"points", window.ids.size()},          {"next_id", window.next_id},
                     {"latest", nullptr},   {"clusters", clusters.clusters.size()}, {"next_cluster", clusters.next}};
  if (window.latest) about["window"]["latest"] = *window.latest;
  std::string text = "\n" + about.dump() + "\n";
  put(text, window.ids);
  put(text, window.points);
  put(text, window.times);
  put(text, clusters.clusters);
  io::Checksum sum;
  sum.add(text);
  io::write_text_file(file, std::string(kBegin) + io::format_checksum(sum.value()) + text);
}

std::optional<WatchSnapshot> read_snapshot(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in && !std::filesystem::is_symlink(file) && !std::filesystem::exists(file)) return std::nullopt;
  if (!in) throw ResourceError(fmt::format("cannot read {}; get the right to read it", file.string()));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  try {
    return parse_snapshot(text);
  } catch (const InputError& error) {
    throw input_error("{} cannot be used: {}; choose another folder for the results", file.string(), error.what());
  } catch (const nlohmann::json::exception& error) {
    throw input_error("{} cannot be used: {}; choose another folder for the results", file.string(), error.what());
  }
}

}  // namespace epsflow::cli
