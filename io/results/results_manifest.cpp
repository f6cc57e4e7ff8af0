#include <epsflow/io/results/results_manifest.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSummaryHeader = "eps,minpts,clusters,noise,core,border,largest,seconds,labels,crc32";
/// Before label files had checksums.
constexpr const char* kOldSummaryHeader = "eps,minpts,clusters,noise,core,border,largest,seconds,labels";

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ResourceError("cannot read " + file.string() + "; get the right to read it, or choose another folder");
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void throw_strange(const std::filesystem::path& file, const std::string& why) {
  throw UsageError(file.string() + " " + why + "; move it away, or choose another folder");
}

Json to_object(const std::vector<std::pair<std::string, std::string>>& entries) {
  Json object = Json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

/// Text from outside may be no UTF-8.
std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// What status_of(), with_status() and asked_for_hdf5() rely on.
std::string checked_run(const Json& run, const std::filesystem::path& file) {
  if (!run.is_object() || !run.at("status").is_string()) throw_strange(file, "was not written by epsflow");
  return dump(run);
}

void read_files(const Json& json, const std::filesystem::path& file, Manifest& manifest) {
  if (!json.contains("files")) {
    // As version 0.1.0 wrote it.
    manifest.files[kTraceName] = {};
    if (asked_for_hdf5(manifest)) manifest.files[kHdf5Name] = {};
    return;
  }
  for (const Json& entry : json.at("files")) {
    const std::string name = entry.at("name");
    const auto crc32 = parse_checksum(entry.at("crc32").get<std::string>());
    if (!is_results_name(name) || !crc32)
      throw_strange(file, "names " + show_text(name) + ", which epsflow never writes");
    manifest.files[name] = {entry.at("bytes"), *crc32};
  }
}

}  // namespace

std::string now_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string describe_input(const Points& points, const std::string& checksum) {
  Json files = Json::array();
  for (const InputRows& input : points.inputs) {
    files.push_back(
        {{"name", input.name}, {"kind", input.kind}, {"rows", input.rows}, {"dropped_rows", input.dropped.size()}});
  }
  return dump({{"files", files},
               {"checksum", checksum},
               {"points", points.size()},
               {"dims", points.dims()},
               {"precision", points.precision() == Precision::float32 ? "float32" : "float64"},
               {"columns", points.column_names},
               {"column_numbers", points.column_numbers},
               {"dropped_rows", points.dropped_rows()}});
}

std::string describe_run(const RunDescription& run, const std::string& started, const std::string& status,
                         double seconds, const std::string& reason) {
  Json json{{"status", status}};
  if (!reason.empty()) json["reason"] = reason;
  json["started"] = started;
  json["seconds"] = seconds;
  json["version"] = run.version;
  json["options"] = to_object(run.options);
  json["machine"] = to_object(run.machine);
  return dump(json);
}

std::string with_status(const std::string& run, const std::string& status) {
  Json json = Json::parse(run);
  json["status"] = status;
  return dump(json);
}

std::string status_of(const std::string& run) { return Json::parse(run).value("status", ""); }

std::string manifest_json(const Manifest& manifest, std::size_t variants, bool files) {
  const Json last = Json::parse(manifest.runs.back());
  Json json{{"program", "epsflow"}};
  for (const char* name : {"version", "status", "reason", "started", "seconds"}) {
    if (last.contains(name)) json[name] = last[name];
  }
  json["variants"] = variants;
  json["input"] = Json::parse(manifest.input);
  json["options"] = last.value("options", Json::object());
  json["machine"] = last.value("machine", Json::object());
  json["runs"] = Json::array();
  for (const std::string& run : manifest.runs) json["runs"].push_back(Json::parse(run));
  if (files) {
    json["files"] = Json::array();
    for (const auto& [name, digest] : manifest.files) {
      json["files"].push_back({{"name", name}, {"bytes", digest.bytes}, {"crc32", format_checksum(digest.crc32)}});
    }
  }
  if (!manifest.labelled.empty()) json["labelled"] = manifest.labelled;
  return dump(json, 2) + "\n";
}

std::optional<Manifest> read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kManifestName;
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file, code);
  if (!std::filesystem::exists(status)) return std::nullopt;
  if (!std::filesystem::is_regular_file(status)) throw_strange(file, "is no file that epsflow wrote");
  Manifest manifest;
  try {
    const Json json = Json::parse(read_bytes(file));
    if (json.value("program", "") != "epsflow") throw_strange(file, "was not written by epsflow");
    manifest.checksum = json.at("input").at("checksum");
    manifest.input = dump(json.at("input"));
    if (json.contains("runs")) {
      for (const Json& run : json.at("runs")) manifest.runs.push_back(checked_run(run, file));
    } else {
      Json run;
      for (const char* name : {"status", "started", "seconds", "version", "options", "machine"})
        run[name] = json.at(name);
      manifest.runs.push_back(checked_run(run, file));
    }
    read_files(json, file, manifest);
    if (json.contains("labelled")) manifest.labelled = json.at("labelled").get<decltype(manifest.labelled)>();
  } catch (const Json::exception&) {
    throw_strange(file, "was not written by epsflow, or is damaged");
  }
  return manifest;
}

bool asked_for_hdf5(const Manifest& manifest) {
  for (const std::string& run : manifest.runs) {
    const Json json = Json::parse(run);
    if (json.contains("options") && json["options"].contains("hdf5")) return true;
  }
  return false;
}

std::string summary_csv(const Entries& entries) {
  std::string text = std::string(kSummaryHeader) + "\n";
  for (const auto& [variant, entry] : entries) text += summary_row(entry) + "\n";
  return text;
}

std::string summary_row(const SweepEntry& e) {
  return fmt::format("{},{},{},{},{},{},{},{:.6f},{},{}", format_number(e.variant.eps), e.variant.minpts,
                     e.summary.clusters, e.summary.noise, e.summary.core, e.summary.border, e.summary.largest,
                     e.seconds, labels_name(e.variant), e.crc32 ? format_checksum(*e.crc32) : "");
}

SweepEntry parse_summary_row(const std::string& row) {
  std::istringstream in(row);
  SweepEntry e;
  char comma{};
  in >> e.variant.eps >> comma >> e.variant.minpts >> comma >> e.summary.clusters >> comma >> e.summary.noise >>
      comma >> e.summary.core >> comma >> e.summary.border >> comma >> e.summary.largest >> comma >> e.seconds >> comma;
  std::string labels;
  if (!std::getline(in, labels, ',') || labels != labels_name(e.variant)) throw InputError(show_text(row));
  std::string checksum;
  if (std::getline(in, checksum)) {
    e.crc32 = parse_checksum(checksum);
    if (!e.crc32 && !checksum.empty()) throw InputError(show_text(row));
  }
  return e;
}

Entries read_summary(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kSummaryName;
  std::error_code code;
  Entries entries;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, code))) return entries;
  std::istringstream lines(read_bytes(file));
  std::string line;
  std::getline(lines, line);
  if (line != kSummaryHeader && line != kOldSummaryHeader) throw_strange(file, "was not written by epsflow");
  while (std::getline(lines, line)) {
    try {
      const SweepEntry entry = parse_summary_row(line);
      entries.insert_or_assign(entry.variant, entry);
    } catch (const InputError& e) {
      throw_strange(file, std::string("has a line that epsflow did not write: ") + e.what());
    }
  }
  return entries;
}

}  // namespace epsflow::io
