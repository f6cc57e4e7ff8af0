#include <epsflow/io/results/results_journal.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {
namespace {

constexpr std::string_view kBegin = "begin ";
constexpr std::string_view kVariant = "variant ";
constexpr std::string_view kFile = "file ";
constexpr std::string_view kCommit = "commit";

std::uint32_t checksum_of_line(std::string_view event) {
  Checksum checksum;
  checksum.add(event);
  return checksum.value();
}

/// The event of a line, without its checksum; nothing for a torn one.
std::optional<std::string> event_of(const std::string& line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string::npos) return std::nullopt;
  const std::string_view event = std::string_view(line).substr(0, blank);
  if (parse_checksum(std::string_view(line).substr(blank + 1)) != checksum_of_line(event)) return std::nullopt;
  return std::string(event);
}

/// Returns how many points the input has, if it tells.
std::optional<std::uint64_t> read_begin(std::string_view text, JournalContents& contents) {
  const auto json = nlohmann::ordered_json::parse(text);
  contents.replaces = json.at("replaces");
  contents.input = json.at("input").dump();
  contents.checksum = json.at("input").at("checksum");
  contents.run = json.at("run").dump();
  require_run(contents.run);
  return points_of(contents.input);
}

}  // namespace

std::optional<JournalContents> read_journal(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  JournalContents contents;
  bool begun = false;
  std::optional<std::uint64_t> points;
  for (std::string line; std::getline(in, line);) {
    const std::optional<std::string> event = event_of(line);
    if (!event) break;
    const std::string_view text = *event;
    try {
      if (text.starts_with(kBegin)) {
        points = read_begin(text.substr(kBegin.size()), contents);
        begun = true;
      } else if (text.starts_with(kVariant)) {
        const SweepEntry entry = parse_variant(text.substr(kVariant.size()), points);
        if (entry.has_labels && !contents.files.contains(labels_name(entry.variant))) break;
        contents.entries.push_back(entry);
      } else if (text.starts_with(kFile)) {
        const auto [name, digest] = parse_file(text.substr(kFile.size()));
        contents.files[name] = digest;
      } else if (text == kCommit) {
        contents.committed = true;
      }
    } catch (const nlohmann::json::exception&) {
      break;  // a checksum that fits, but nothing that a journal says: as a torn line
    } catch (const InputError&) {
      break;
    }
  }
  if (!begun) return std::nullopt;
  return contents;
}

Journal::Journal(const std::filesystem::path& file, const JournalContents& begin) {
  // In one step: the journal before is whole until this one is.
  const std::filesystem::path next = file.string() + ".next";
  stream_ = std::make_unique<FileStream>(next, file);
  add_line(std::string(kBegin) + R"({"replaces": )" + (begin.replaces ? "true" : "false") + R"(, "input": )" +
           begin.input + R"(, "run": )" + begin.run + "}");
  if (begin.committed) add_commit();
  sync();
  std::error_code code;
  std::filesystem::rename(next, file, code);
  if (code) throw_cannot_write(file, code.value());
  sync_path(file.parent_path());
}

void Journal::add(const SweepEntry& entry) { add_line(std::string(kVariant) + variant_json(entry)); }

void Journal::add(const std::string& name, const FileDigest& digest) {
  add_line(std::string(kFile) + file_json(name, digest));
}

void Journal::add_commit() { add_line(kCommit); }

void Journal::add_line(std::string_view event) {
  pending_.append(event).append(" ").append(format_checksum(checksum_of_line(event))).append("\n");
}

void Journal::sync() {
  stream_->write(pending_);
  pending_.clear();
  stream_->sync();
}

}  // namespace epsflow::io
