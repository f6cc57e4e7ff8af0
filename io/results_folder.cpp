#include <epsflow/io/results_folder.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/atomic_file.hpp>
#include <epsflow/io/npy_writer.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSummaryHeader = "eps,minpts,clusters,noise,core,border,largest,seconds,labels";

std::string now_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

bool before(const SweepEntry& a, const SweepEntry& b) {
  return std::tie(a.variant.eps, a.variant.minpts) < std::tie(b.variant.eps, b.variant.minpts);
}

Json to_object(const std::vector<std::pair<std::string, std::string>>& entries) {
  Json object = Json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw InputError("cannot read " + file.string() + "; fix its permissions or take another --out");
  return text.str();
}

/// One line of summary.csv. Throws on anything that write_summary() would not write.
SweepEntry parse_summary_row(const std::string& line) {
  std::istringstream in(line);
  SweepEntry e;
  char comma{};
  in >> e.variant.eps >> comma >> e.variant.minpts >> comma >> e.summary.clusters >> comma >> e.summary.noise >>
      comma >> e.summary.core >> comma >> e.summary.border >> comma >> e.summary.largest >> comma >> e.seconds >> comma;
  std::string labels;
  if (!std::getline(in, labels) || labels != ResultsFolder::labels_name(e.variant)) {
    throw InputError("'" + line + "'");
  }
  return e;
}

}  // namespace

std::string checksum_of(PointsView points) {
  const std::string shape = fmt::format("{}x{}:{}", points.size(), points.dims(), bytes_of(points.precision()));
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(shape.data()), shape.size());
  crc = crc32_z(crc, static_cast<const Bytef*>(points.data()), points.bytes());
  return fmt::format("crc32:{:08x}", crc);
}

ResultsFolder::ResultsFolder(std::filesystem::path folder, RunDescription description, FolderMode mode)
    : folder_(std::move(folder)), description_(std::move(description)), started_(now_utc()) {
  std::error_code code;
  if (std::filesystem::exists(folder_ / "sweep.json", code)) {
    load(mode);
  } else if (std::filesystem::exists(folder_ / "summary.csv", code)) {
    throw UsageError(folder_.string() + " holds a summary.csv that epsflow did not write; choose another --out");
  }
  write_text_file(folder_ / "sweep.json", describe("running", 0));
  write_summary();
}

void ResultsFolder::load(FolderMode mode) {
  if (mode == FolderMode::fresh) {
    throw UsageError(
        folder_.string() +
        " holds results already; add to them with --resume, replace them with --overwrite, or choose another "
        "--out");
  }
  if (mode == FolderMode::overwrite) return remove_results();
  const std::filesystem::path json_file = folder_ / "sweep.json";
  const Json json = Json::parse(read_text(json_file), nullptr, false);
  if (json.is_discarded() || !json.contains("input") || !json["input"].contains("checksum")) {
    throw InputError(json_file.string() + " is damaged; replace the results with --overwrite or choose another --out");
  }
  if (json["input"]["checksum"] != description_.checksum) {
    throw InputError(folder_.string() + " holds results of another input (" +
                     json["input"].value("files", Json()).dump() + ", " + json["input"]["checksum"].dump() +
                     ", not \"" + description_.checksum + "\"); choose another --out or replace them with --overwrite");
  }
  const std::filesystem::path summary = folder_ / "summary.csv";
  std::error_code code;
  if (!std::filesystem::exists(summary, code)) return;
  std::istringstream lines(read_text(summary));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    SweepEntry entry;
    try {
      entry = parse_summary_row(line);
    } catch (const InputError& e) {
      throw InputError(summary.string() + " has a line that epsflow did not write: " + e.what() +
                       "; replace the results with --overwrite or choose another --out");
    }
    // A label file that is gone or too short is made again.
    const auto size = std::filesystem::file_size(folder_ / labels_name(entry.variant), code);
    if (!code && size > description_.points * sizeof(std::int32_t)) entries_.push_back(entry);
  }
}

void ResultsFolder::remove_results() {
  std::error_code code;
  if (std::filesystem::exists(folder_ / "summary.csv", code)) {
    std::istringstream lines(read_text(folder_ / "summary.csv"));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const std::string name = line.substr(line.rfind(',') + 1);
      // Only what epsflow names this way is epsflow's to remove.
      if (name.starts_with("labels/eps_")) std::filesystem::remove(folder_ / name, code);
    }
  }
  for (const char* name : {"summary.csv", "trace.json", "sweep.h5", "sweep.json"}) {
    std::filesystem::remove(folder_ / name, code);
  }
}

bool ResultsFolder::holds(const Variant& variant) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const SweepEntry& e) { return e.variant == variant; });
}

std::string ResultsFolder::labels_name(const Variant& variant) {
  return "labels/eps_" + format_number(variant.eps) + "_minpts_" + std::to_string(variant.minpts) + ".npy";
}

void ResultsFolder::add(const VariantResult& result) {
  write_npy(folder_ / labels_name(result.variant), npy_labels(result.labels), Overwrite::replace);
  const SweepEntry entry{result.variant, result.summary, result.seconds};
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, before), entry);
  write_summary();
}

void ResultsFolder::write_summary() const {
  std::string text = std::string(kSummaryHeader) + "\n";
  for (const SweepEntry& e : entries_) {
    text += fmt::format("{},{},{},{},{},{},{},{:.6f},{}\n", format_number(e.variant.eps), e.variant.minpts,
                        e.summary.clusters, e.summary.noise, e.summary.core, e.summary.border, e.summary.largest,
                        e.seconds, labels_name(e.variant));
  }
  write_text_file(folder_ / "summary.csv", text);
}

std::string ResultsFolder::describe(const std::string& status, double seconds) const {
  Json json;
  json["program"] = "epsflow";
  json["version"] = description_.version;
  json["status"] = status;
  json["started"] = started_;
  json["seconds"] = seconds;
  json["input"] = {{"files", description_.inputs},
                   {"checksum", description_.checksum},
                   {"points", description_.points},
                   {"dims", description_.dims},
                   {"precision", description_.precision},
                   {"columns", description_.columns},
                   {"dropped_rows", description_.dropped_rows}};
  json["options"] = to_object(description_.options);
  json["machine"] = to_object(description_.machine);
  json["variants"] = entries_.size();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void ResultsFolder::finish(const std::string& status, double seconds, const Trace& trace) {
  write_text_file(folder_ / "trace.json", trace_json(trace));
  write_text_file(folder_ / "sweep.json", describe(status, seconds));
}

void ResultsFolder::write_hdf5() const {
  write_hdf5_sweep(folder_ / "sweep.h5", entries_, description_.points, read_text(folder_ / "sweep.json"),
                   [&](std::size_t v) {
                     // int32 comes back as float64, which holds every label.
                     Points labels = read_points(folder_ / labels_name(entries_[v].variant));
                     const auto values = labels.values<double>();
                     return std::vector<std::int32_t>(values.begin(), values.end());
                   });
}

std::string trace_json(const Trace& trace) {
  Json events = Json::array();
  for (const TraceSpan& span : trace.spans()) {
    events.push_back({{"name", stage_name(span.stage)},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"ts", static_cast<double>(span.begin_ns) / 1000},
                      {"dur", static_cast<double>(span.end_ns - span.begin_ns) / 1000},
                      {"args", {{"eps", span.eps}, {std::string(span.detail.name), span.detail.value}}}});
  }
  Json json;
  json["traceEvents"] = std::move(events);
  json["displayTimeUnit"] = "ms";
  json["otherData"] = {{"retries", std::to_string(trace.retries())}};
  return json.dump() + "\n";
}

}  // namespace epsflow::io
