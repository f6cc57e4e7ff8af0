#include <epsflow/io/results/results_files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::io {
namespace {

/// Up to here files are brought to the disk one by one; of more, all that the file system holds is.
constexpr std::size_t kFewFiles = 64;
/// Written to at once, so that the disk works beside the computation.
constexpr std::uint64_t kWorthStarting = 1 << 20;

void remove_name(const std::filesystem::path& file) {
  // unlink() rather than remove(), which takes folders as well.
  if (unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    const int error = errno;
    throw ResourceError("cannot remove " + file.string() + ": " + std::generic_category().message(error) +
                        "; get the right to do so, or choose another folder");
  }
}

void move_up(const std::filesystem::path& replacement, const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path target = folder / name;
  if (rename((replacement / name).c_str(), target.c_str()) == 0) return;
  // A repeated call: this file has been moved.
  if (errno != ENOENT || !std::filesystem::exists(target)) throw_cannot_write(target, errno);
}

/// The folders below that of the results which these files are in.
std::set<std::string> folders_of(const Files& files) {
  std::set<std::string> folders;
  for (const auto& [name, digest] : files) {
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) folders.insert(name.substr(0, slash));
  }
  return folders;
}

void take_place(const std::filesystem::path& replacement, const std::filesystem::path& folder) {
  // Once sweep.json has moved, which is the last step, there is nothing left to do.
  if (!std::filesystem::exists(replacement / kManifestName)) return;
  const Manifest next = read_manifest(replacement);
  // The old results go first: while their sweep.json is there none of the new ones has moved.
  if (std::filesystem::exists(folder / kManifestName)) remove_results(folder, read_manifest(folder));
  std::error_code code;
  const std::set<std::string> folders = folders_of(next.files);
  for (const std::string& name : folders) {
    std::filesystem::create_directories(folder / name, code);
    if (code) throw_cannot_write(folder / name, code.value());
  }
  for (const auto& [name, digest] : next.files) move_up(replacement, folder, name);
  write_text_file(folder / kSummaryName, summary_csv(next));
  for (const std::string& name : folders) sync_path(folder / name);
  sync_path(folder);
  move_up(replacement, folder, kManifestName);
  sync_path(folder);
}

[[noreturn]] void throw_damaged(const std::filesystem::path& file, const std::string& what) {
  throw InputError(file.string() + " " + what +
                   ": make it again with FolderMode::resume, or replace the folder with FolderMode::overwrite");
}

}  // namespace

FileDigest write_array(const std::filesystem::path& file, const std::filesystem::path& target, const NpyArray& array) {
  constexpr std::size_t kPiece = 1 << 18;  // is still in a cache when it is written
  Checksum checksum;
  FileStream stream(file, target);
  const auto write = [&](std::span<const std::byte> bytes) {
    checksum.add(bytes);
    stream.write(bytes, array.bytes());
  };
  write(std::as_bytes(std::span(array.header)));
  for (std::size_t at = 0; at < array.data.size(); at += kPiece) {
    write(array.data.subspan(at, std::min(kPiece, array.data.size() - at)));
  }
  if (array.data.size() >= kWorthStarting) stream.start_writeback();
  stream.close();
  return {array.bytes(), checksum.value()};
}

void make_durable(const std::vector<std::filesystem::path>& files) {
  if (files.size() <= kFewFiles) {
    for (const std::filesystem::path& file : files) sync_path(file);
    return;
  }
  const int descriptor = open(files.front().c_str(), O_RDONLY | O_CLOEXEC);
  const int error = descriptor < 0 || syncfs(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) close(descriptor);
  if (error != 0) throw_cannot_write(files.front().parent_path(), error);
}

std::uint64_t require_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n) {
  const std::string expected = npy_vector_header(type, n);
  std::error_code code;
  const std::uint64_t bytes = std::filesystem::file_size(file, code);
  if (code) throw_damaged(file, "is missing, and the folder says that it is there");
  std::string header(expected.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!in || header != expected) {
    throw_damaged(file,
                  "is damaged: its head is not as epsflow writes it for " + std::to_string(n) + " values of " + type);
  }
  const std::uint64_t size = type == "|b1" ? 1 : type.back() - '0';
  const std::uint64_t wanted = expected.size() + n * size;
  if (bytes != wanted) {
    throw_damaged(file, "is damaged: it has " + std::to_string(bytes) + " bytes, not " + std::to_string(wanted));
  }
  return expected.size();
}

void require_digest(const std::filesystem::path& file, const FileDigest& digest) {
  const std::optional<FileDigest> found = digest_of(file);
  if (found == digest) return;
  throw_damaged(file, "has changed since it was written: its checksum is " +
                          (found ? format_checksum(found->crc32) : "unknown") + ", not " +
                          format_checksum(digest.crc32));
}

void save_manifest(const std::filesystem::path& folder, const Manifest& manifest) {
  write_text_file(folder / kManifestName, manifest_json(manifest));
  write_text_file(folder / kSummaryName, summary_csv(manifest));
}

void merge(const JournalContents& journal, Manifest& manifest) {
  if (manifest.checksum.empty()) {
    manifest.checksum = journal.checksum;
    manifest.input = journal.input;
  }
  if (manifest.runs.empty() || status_of(manifest.runs.back()) != "running") manifest.runs.push_back(journal.run);
  for (const SweepEntry& entry : journal.entries) manifest.entries.insert_or_assign(entry.variant, entry);
  for (const auto& [name, digest] : journal.files) manifest.files[name] = digest;
}

void remove_results(const std::filesystem::path& folder, const Manifest& manifest) {
  for (const auto& [name, digest] : manifest.files) remove_name(folder / name);
  remove_name(folder / kSummaryName);
  for (const std::string& name : folders_of(manifest.files)) {
    rmdir((folder / name).c_str());  // a folder that holds files of others stays
  }
  sync_path(folder);
  // It stands for the whole, and so goes and comes last.
  remove_name(folder / kManifestName);
}

std::optional<JournalContents> recover(const std::filesystem::path& folder) {
  std::optional<JournalContents> left = read_journal(folder / ".epsflow/journal");
  if (!left || !left->committed) return left;
  take_place(folder / ".epsflow/replacement", folder);
  clear_hidden(folder);
  return std::nullopt;
}

void clear_hidden(const std::filesystem::path& folder) {
  const std::filesystem::path hidden = folder / ".epsflow";
  std::error_code ignored;
  for (const char* name : {"partial", "replacement", "journal.next", "journal"}) {
    std::filesystem::remove_all(hidden / name, ignored);
  }
}

}  // namespace epsflow::io
