#include <epsflow/io/results/results_manifest.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/json_numbers.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSummaryHeader = "eps,minpts,clusters,noise,core,border,largest,seconds,labels,crc32";
constexpr const char* kSelectedHeader =
    "minpts,min_cluster_size,clusters,noise,clustered,largest,persistence,seconds,labels,crc32";
constexpr const char* kDamaged = "was not written by epsflow, or is damaged";

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ResourceError("cannot read " + file.string() + "; get the right to read it, or choose another folder");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the path of an element: "results[3]".
std::string element(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

[[noreturn]] void throw_strange(const std::filesystem::path& file, const std::string& why) {
  throw UsageError(file.string() + " " + why + "; move it away, or choose another folder");
}

ordered_json to_object(const std::vector<std::pair<std::string, std::string>>& entries) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

/// Returns JSON text. Replaces invalid UTF-8, which text from outside may contain.
std::string dump(const ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

/// Quotes the first 80 bytes of a text from outside as JSON, so that no control character reaches a terminal.
std::string show(const std::string& text) {
  constexpr std::size_t kMost = 80;
  return ordered_json(text.substr(0, kMost)).dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

/// Returns the text after the comma of Manifest::checksum. The euclidean metric has no name there.
std::string metric_of(const std::string& checksum) {
  const std::size_t comma = checksum.find(", ");
  if (comma == std::string::npos) return "euclidean";
  const std::string under = checksum.substr(comma + 2);
  return under == "weighted" ? "euclidean, weighted" : under;
}

/// Returns the number of points of an input, if it has one. Throws InputError for numbers that describe_input() never
/// writes.
std::optional<std::uint64_t> points_in(const ordered_json& input) {
  const JsonNumbers numbers(input, "input");
  const auto check = [](const auto& of, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (of.has(name)) static_cast<void>(of.count(name));
    }
  };
  check(numbers, {"points", "dims", "dropped_rows"});
  if (numbers.has("column_numbers")) static_cast<void>(numbers.counts("column_numbers"));
  if (numbers.has("slices") && !input["slices"].is_string()) throw InputError("input.slices is not a text");
  if (numbers.has("files")) {
    std::size_t index = 0;
    for (const ordered_json& file : input["files"]) {
      check(JsonNumbers(file, "input." + element("files", index++)), {"rows", "dropped_rows"});
    }
  }
  if (!numbers.has("points")) return std::nullopt;
  return numbers.count("points");
}

ordered_json to_json(const SweepEntry& e) {
  ordered_json json = counts_as_json<ordered_json>(e.variant, e.summary);
  if (e.variant.min_cluster_size > 0) json["persistence"] = e.persistence;
  json["seconds"] = e.seconds;
  if (!e.has_labels) json["labels"] = false;
  return json;
}

/// Throws InputError if the counts are impossible for this many points.
SweepEntry entry_of(const ordered_json& json, const std::string& path, std::optional<std::uint64_t> points) {
  const JsonNumbers numbers(json, path);
  const Variant variant = numbers.variant();
  return {variant, numbers.summary(points), numbers.real("seconds"), json.value("labels", true),
          variant.min_cluster_size > 0 ? numbers.real("persistence") : 0};
}

/// Adds a variant. Throws InputError if its label file has not been added before.
void add_entry(Manifest& manifest, const ordered_json& json, const std::string& path,
               std::optional<std::uint64_t> points) {
  const SweepEntry entry = entry_of(json, path, points);
  if (entry.has_labels && !manifest.files.contains(labels_name(entry.variant))) {
    throw InputError(path + " has labels that are not among the files");
  }
  manifest.entries.insert_or_assign(entry.variant, entry);
}

ordered_json to_json(const std::string& name, const FileDigest& digest) {
  return {{"name", name}, {"bytes", digest.bytes}, {"crc32", format_checksum(digest.crc32)}};
}

/// Adds a file. Throws InputError if epsflow never lists a file of this name.
void add_file(Manifest& manifest, const ordered_json& json, const std::string& path) {
  const std::string name = json.at("name");
  const auto crc32 = parse_checksum(json.at("crc32").get<std::string>());
  if (!is_results_name(name) || name == kManifestName || name == kSummaryName || !crc32) {
    throw InputError(path + " names " + show(name) + ", which epsflow never writes");
  }
  manifest.files[name] = {JsonNumbers(json, path).count("bytes"), *crc32};
}

/// Adds a run. Throws InputError if its status is missing or its seconds are impossible.
void add_run(Manifest& manifest, const ordered_json& run, const std::string& path) {
  const JsonNumbers numbers(run, path);
  if (!numbers.has("status") || !run["status"].is_string()) throw InputError(path + ".status is not a text");
  if (numbers.has("seconds")) static_cast<void>(numbers.real("seconds"));
  manifest.runs.push_back(dump(run));
}

/// Sets the input. Returns the number of points, if the input has it. Throws InputError for numbers that
/// describe_input() does not write.
std::optional<std::uint64_t> set_input(Manifest& manifest, const ordered_json& input) {
  manifest.checksum = input.at("checksum");
  manifest.input = dump(input);
  return points_in(input);
}

std::uint32_t checksum_of_line(std::string_view event) {
  Checksum checksum;
  checksum.add(event);
  return checksum.value();
}

/// Returns the event of a line, without its checksum; nullopt for a torn line.
std::optional<std::string> event_of(const std::string& line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string::npos) return std::nullopt;
  const std::string event = line.substr(0, blank);
  if (parse_checksum(std::string_view(line).substr(blank + 1)) != checksum_of_line(event)) return std::nullopt;
  return event;
}

}  // namespace

bool Manifest::owns(const std::string& name) const {
  if (name == kSummaryName || name == kManifestName) return !runs.empty();
  return files.contains(name);
}

bool Manifest::asked_for_hdf5() const {
  return std::ranges::any_of(runs, [](const std::string& run) {
    const ordered_json json = ordered_json::parse(run);
    return json.contains("options") && json["options"].contains("hdf5");
  });
}

void Manifest::end_running() {
  if (runs.empty()) return;
  ordered_json run = ordered_json::parse(runs.back());
  if (run.value("status", "") != "running") return;
  run["status"] = "killed";
  runs.back() = dump(run);
}

void Manifest::merge(const Manifest& journal) {
  if (checksum.empty()) {
    checksum = journal.checksum;
    input = journal.input;
  }
  if (runs.empty() || ordered_json::parse(runs.back()).value("status", "") != "running")
    runs.push_back(journal.runs.back());
  for (const auto& [variant, entry] : journal.entries) entries.insert_or_assign(variant, entry);
  for (const auto& [name, digest] : journal.files) files[name] = digest;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

ResultsInput results_input(const FilePoints& points) {
  const PointsOrigin& origin = points;
  return {.origin = origin,
          .points = points.size(),
          .dims = points.dims(),
          .precision = points.precision(),
          .checksum = checksum_of(points),
          .weights = points.weights.empty() ? "" : checksum_of(PointsView(points.weights, 1))};
}

std::string checksum_of_input(const ResultsInput& input, std::string_view metric) {
  std::string text = input.checksum;
  const bool weighted = !input.weights.empty();
  if (weighted) text += " weights " + input.weights;
  if (!metric.empty()) text += ", " + std::string(metric);
  if (!input.slices.empty()) text += ", " + input.slices;
  if (weighted) text += ", weighted";
  return text;
}

std::string without_weights(const std::string& checksum) {
  constexpr std::string_view kWeighted = ", weighted";
  if (!checksum.ends_with(kWeighted)) return checksum;
  const std::string rest = checksum.substr(0, checksum.size() - kWeighted.size());
  const std::size_t end = rest.find_first_of(" ,");
  const std::size_t comma = rest.find(',');
  return rest.substr(0, end) + (comma == std::string::npos ? "" : rest.substr(comma));
}

std::string describe_input(const ResultsInput& input, const std::string& checksum) {
  const PointsOrigin& origin = input.origin;
  ordered_json files = ordered_json::array();
  for (const InputRows& file : origin.inputs) {
    files.push_back(
        {{"name", file.name}, {"kind", file.kind}, {"rows", file.rows}, {"dropped_rows", file.dropped.size()}});
  }
  ordered_json json{{"files", files},
                    {"checksum", checksum},
                    {"points", input.points},
                    {"dims", input.dims},
                    {"precision", input.precision == Precision::float32 ? "float32" : "float64"},
                    {"columns", origin.column_names},
                    {"column_numbers", origin.column_numbers}};
  if (!origin.weight_column.empty()) json["weight"] = origin.weight_column;
  if (!input.slices.empty()) json["slices"] = input.slices;
  json["dropped_rows"] = origin.dropped_rows();
  return dump(json);
}

std::string slices_of(const Manifest& manifest) {
  const ordered_json input = ordered_json::parse(manifest.input, nullptr, false);
  return input.is_object() ? input.value("slices", std::string()) : std::string();
}

void require_sweep(const std::filesystem::path& folder, const Manifest& manifest) {
  if (!manifest.of_hierarchies()) return;
  throw InputError(folder.string() + " holds results of epsflow hdbscan, which have no eps: give a file of " +
                   (folder / kLabelsFolder).string() + ", or a folder that epsflow sweep wrote");
}

std::string describe_difference(const Manifest& manifest, const std::string& checksum) {
  const auto points_of = [](const std::string& text) { return text.substr(0, text.find_first_of(" ,")); };
  if (points_of(manifest.checksum) == points_of(checksum)) {
    const std::string held = metric_of(without_weights(manifest.checksum));
    const std::string asked = metric_of(without_weights(checksum));
    if (held != asked) return "another metric (" + held + ", not " + asked + ")";
    if (without_weights(checksum) == checksum) return "points with weights";
    return without_weights(manifest.checksum) == manifest.checksum ? "points without weights"
                                                                   : "other weights of the points";
  }
  std::string files;
  for (const ordered_json& file : ordered_json::parse(manifest.input).value("files", ordered_json::array())) {
    if (file.is_object() && file.contains("name")) files += dump(file["name"]) + ", ";
  }
  return "another input (" + files + points_of(manifest.checksum) + ", not " + points_of(checksum) + ")";
}

std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                         double seconds, const std::string& reason) {
  ordered_json json{{"status", status}};
  if (!reason.empty()) json["reason"] = reason;
  json["started"] = started;
  json["seconds"] = seconds;
  json["version"] = run.version;
  json["options"] = to_object(run.options);
  json["machine"] = to_object(run.machine);
  return dump(json);
}

void require_possible(const SweepEntry& entry, std::string_view input) {
  try {
    static_cast<void>(
        entry_of(ordered_json::parse(dump(to_json(entry))), "variant", points_in(ordered_json::parse(input))));
  } catch (const ordered_json::exception& e) {
    throw InputError(e.what());
  }
}

std::string manifest_json(const Manifest& manifest, bool listed) {
  const ordered_json last = ordered_json::parse(manifest.runs.back());
  ordered_json json{{"program", "epsflow"}};
  for (const char* name : {"version", "status", "reason", "started", "seconds"}) {
    if (last.contains(name)) json[name] = last[name];
  }
  json["variants"] = manifest.entries.size();
  json["metric"] = metric_of(manifest.checksum);
  json["input"] = ordered_json::parse(manifest.input);
  json["options"] = last.value("options", ordered_json::object());
  json["machine"] = last.value("machine", ordered_json::object());
  json["runs"] = ordered_json::array();
  for (const std::string& run : manifest.runs) json["runs"].push_back(ordered_json::parse(run));
  if (listed) {
    json["results"] = ordered_json::array();
    for (const auto& [variant, entry] : manifest.entries) json["results"].push_back(to_json(entry));
    json["files"] = ordered_json::array();
    for (const auto& [name, digest] : manifest.files) json["files"].push_back(to_json(name, digest));
  }
  for (const auto& [variants_of, contents] : manifest.contents) json[variants_of] = contents;
  return dump(json, 2) + "\n";
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kManifestName;
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file, code);
  Manifest manifest;
  if (!std::filesystem::exists(status)) return manifest;
  if (!std::filesystem::is_regular_file(status)) throw_strange(file, "is no file that epsflow wrote");
  try {
    const ordered_json json = ordered_json::parse(read_bytes(file));
    if (json.value("program", "") != "epsflow") throw_strange(file, "was not written by epsflow");
    const std::optional<std::uint64_t> points = set_input(manifest, json.at("input"));
    for (const ordered_json& run : json.at("runs")) add_run(manifest, run, element("runs", manifest.runs.size()));
    std::size_t index = 0;
    for (const ordered_json& entry : json.at("files")) add_file(manifest, entry, element("files", index++));
    index = 0;
    for (const ordered_json& result : json.at("results"))
      add_entry(manifest, result, element("results", index++), points);
    const JsonNumbers numbers(json, "");
    if (numbers.has("seconds")) static_cast<void>(numbers.real("seconds"));
    const std::size_t variants = json["results"].size();
    if (numbers.has("variants")) static_cast<void>(numbers.count("variants", variants, variants));
    for (const ResultsOutput& output : kResultsOutputs) {
      if (!output.copy || !json.contains(output.name)) continue;
      json.at(output.name).get_to(manifest.contents[std::string(output.name)]);
    }
  } catch (const InputError& e) {
    throw_strange(file, std::string(kDamaged) + ": " + e.what());
  } catch (const ordered_json::exception&) {
    throw_strange(file, kDamaged);
  }
  return manifest;
}

void save_manifest(const std::filesystem::path& folder, const Manifest& manifest) {
  write_text_file(folder / kManifestName, manifest_json(manifest));
  save_summary(folder, manifest);
}

void save_summary(const std::filesystem::path& folder, const Manifest& manifest) {
  const bool selected = manifest.of_hierarchies();
  std::string text = std::string(selected ? kSelectedHeader : kSummaryHeader) + "\n";
  for (const auto& [variant, entry] : manifest.entries) {
    const ordered_json counts = counts_as_json<ordered_json>(variant, entry.summary);
    for (const ordered_json& value : counts) {
      text += (value.is_number_float() ? format_number(value.get<double>()) : value.dump()) + ",";
    }
    if (selected) text += format_number(entry.persistence) + ",";
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.6f", entry.seconds);
    const std::string labels = entry.has_labels ? labels_name(variant) : "";
    const std::string crc32 = entry.has_labels ? format_checksum(manifest.files.at(labels).crc32) : "";
    text += seconds.data() + ("," + labels) + "," + crc32 + "\n";
  }
  write_text_file(folder / kSummaryName, text);
}

std::optional<JournalContents> read_journal(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  JournalContents contents;
  std::optional<std::uint64_t> points;
  for (std::string line; std::getline(in, line);) {
    const std::optional<std::string> event = event_of(line);
    if (!event) break;
    const std::string kind = event->substr(0, event->find(' '));
    try {
      const ordered_json json = kind == "commit" ? ordered_json() : ordered_json::parse(event->substr(kind.size()));
      if (kind == "begin") {
        contents.replaces = json.at("replaces");
        points = set_input(contents.state, json.at("input"));
        add_run(contents.state, json.at("run"), "run");
      } else if (kind == "variant") {
        add_entry(contents.state, json, kind, points);
      } else if (kind == "file") {
        add_file(contents.state, json, kind);
      } else if (kind == "commit") {
        contents.committed = true;
      }
    } catch (const ordered_json::exception&) {
      break;  // the checksum is right, but epsflow does not write such a line: it is treated as torn
    } catch (const InputError&) {
      break;
    }
  }
  if (contents.state.runs.empty()) return std::nullopt;
  return contents;
}

Journal::Journal(const std::filesystem::path& file, const Manifest& state, bool replaces, bool committed)
    : stream_(file.string() + ".next", file) {
  add_line(std::string("begin {\"replaces\": ") + (replaces ? "true" : "false") + ", \"input\": " + state.input +
           ", \"run\": " + state.runs.back() + "}");
  if (committed) add_commit();
  sync();
  // Replaces the older journal in one step.
  std::error_code code;
  std::filesystem::rename(file.string() + ".next", file, code);
  if (code) throw_cannot_write(file, code.value());
  sync_path(file.parent_path());
}

void Journal::add(const SweepEntry& entry) { add_line("variant " + dump(to_json(entry))); }
void Journal::add(const std::string& name, const FileDigest& digest) {
  add_line("file " + dump(to_json(name, digest)));
}

void Journal::add_line(const std::string& event) {
  pending_ += event + " " + format_checksum(checksum_of_line(event)) + "\n";
}

void Journal::sync() {
  stream_.write(pending_);
  pending_.clear();
  stream_.sync();
}

}  // namespace epsflow::io
