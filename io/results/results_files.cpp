#include <epsflow/io/results/results_files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <unordered_set>

namespace epsflow::io {
namespace {

/// Up to this many files are synchronised one by one; for more files, the whole file system is.
constexpr std::size_t kFewFiles = 64;
/// From this size on, the disk begins to write at once, while the computation goes on.
constexpr std::uint64_t kWorthStarting = 1 << 20;

/// Writes the last bytes of a file, and returns the digest of these bytes.
FileDigest write_last(FileStream& stream, std::span<const std::byte> bytes, std::uint64_t wanted, Durable durable) {
  constexpr std::size_t kPiece = 1 << 18;  // small enough to be still in a cache when it is written
  Checksum checksum;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    checksum.add(piece);
    stream.write(piece, wanted);
  }
  if (durable == Durable::now) {
    stream.sync();
  } else if (bytes.size() >= kWorthStarting) {
    stream.start_writeback();
  }
  stream.close();
  return {bytes.size(), checksum.value()};
}

/// Returns the bytes of a value, which are the last digit of its type's name.
std::uint64_t bytes_of_type(const std::string& type) { return static_cast<std::uint64_t>(type.back() - '0'); }

/// Returns the digest of a header and the bytes after it.
FileDigest joined(std::string_view header, std::span<const FileDigest> parts) {
  Checksum checksum;
  checksum.add(header);
  FileDigest digest{header.size(), 0};
  for (const FileDigest& part : parts) {
    checksum.add(part);
    digest.bytes += part.bytes;
  }
  digest.crc32 = checksum.value();
  return digest;
}

void remove_name(const std::filesystem::path& file) {
  // Not remove(), which removes folders as well.
  if (unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    const int error = errno;
    throw ResourceError("cannot remove " + file.string() + ": " + std::generic_category().message(error) +
                        "; get the right to do so, or choose another folder");
  }
}

void move_up(const std::filesystem::path& replacement, const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path target = folder / name;
  if (rename((replacement / name).c_str(), target.c_str()) == 0) return;
  // In a repeated call, this file has been moved already.
  if (errno != ENOENT || !std::filesystem::exists(target)) throw_cannot_write(target, errno);
}

/// Returns the folders of these files in the results folder.
std::set<std::string> folders_of(const Files& files) {
  std::set<std::string> folders;
  for (const auto& [name, digest] : files) {
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) folders.insert(name.substr(0, slash));
  }
  return folders;
}

void take_place(const std::filesystem::path& replacement, const std::filesystem::path& folder) {
  // The last step moves sweep.json. If it has been moved, nothing is left to do.
  if (!std::filesystem::exists(replacement / kManifestName)) return;
  const Manifest next = read_manifest(replacement);
  // Removes the old results first: while their sweep.json exists, no new file has been moved.
  if (std::filesystem::exists(folder / kManifestName)) remove_results(folder, read_manifest(folder));
  const std::set<std::string> folders = folders_of(next.files);
  for (const std::string& name : folders) make_folder(folder / name, folder / name);
  for (const auto& [name, digest] : next.files) move_up(replacement, folder, name);
  save_summary(folder, next);
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
  FileStream stream(file, target);
  stream.write(array.header);
  return joined(array.header, std::array{write_last(stream, array.data, array.bytes(), Durable::later)});
}

FileDigest write_share(const SharedVector& vector, std::uint64_t first, std::span<const std::byte> values,
                       Durable durable) {
  const std::string header = npy_vector_header(vector.type, vector.n);
  const std::uint64_t at = first == 0 ? 0 : header.size() + first * bytes_of_type(vector.type);
  FileStream stream(vector.file, vector.target, at);
  if (first == 0) stream.write(header);
  return write_last(stream, values, values.size(), durable);
}

FileDigest digest_of_shares(const SharedVector& vector, std::span<const FileDigest> shares) {
  return joined(npy_vector_header(vector.type, vector.n), shares);
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
  const std::uint64_t wanted = expected.size() + n * bytes_of_type(type);
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

void remove_results(const std::filesystem::path& folder, const Manifest& manifest) {
  for (const auto& [name, digest] : manifest.files) remove_name(folder / name);
  remove_name(folder / kSummaryName);
  for (const std::string& name : folders_of(manifest.files)) {
    rmdir((folder / name).c_str());  // fails if the folder holds other files
  }
  sync_path(folder);
  // sweep.json stands for the whole folder: it is written and removed last.
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

std::filesystem::path require_folder(std::filesystem::path folder) {
  if (folder.empty())
    throw UsageError("the name of the results folder is empty; give the folder that is to be written");
  while (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();  // "results/"
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(folder, code);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw InTheWay(folder.string() + " is no folder; move it away, or choose another folder");
  }
  const auto require_own = [&](std::string_view name) {
    const std::filesystem::file_status own = std::filesystem::symlink_status(folder / name, code);
    if (!std::filesystem::exists(own) || std::filesystem::is_directory(own)) return;
    throw InTheWay((folder / name).string() + " is no folder of its own; move it away, or choose another folder");
  };
  require_own(".epsflow");
  for (const ResultsOutput& output : kResultsOutputs) {
    if (output.scope == OutputScope::each_variant) require_own(output.name);
  }
  return folder;
}

void require_no_strangers(const std::filesystem::path& folder, const Manifest& state, const std::vector<Variant>& asked,
                          const FolderOutputs& outputs) {
  const auto refuse = [&](const std::string& name) {
    throw InTheWay((folder / name).string() +
                   " was not written by epsflow, and is in the way; move it away, or choose another folder");
  };
  std::error_code code;
  for (const ResultsOutput& output : kResultsOutputs) {
    if (output.scope == OutputScope::each_variant || output.name == kManifestName) continue;
    if (output.scope == OutputScope::all_variants && !outputs.wants(output.name)) continue;
    const std::string name(output.name);
    if (state.owns(name)) continue;
    if (std::filesystem::exists(std::filesystem::symlink_status(folder / name, code))) refuse(name);
  }
  for (const auto& [name, extension] : outputs.wanted) {
    std::unordered_set<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(folder / name, code)) {
      there.insert(name + "/" + entry.path().filename().string());
    }
    if (there.empty()) continue;
    for (const Variant& variant : asked) {
      const std::string file = variant_file(name, variant, extension);
      if (!state.owns(file) && there.contains(file)) refuse(file);
    }
  }
}

void require_no_inputs(const std::filesystem::path& folder, const Manifest& state, const FolderOutputs& outputs) {
  // These files have common names and are written rarely. An input may have such a name.
  const auto spared = [&](const std::string& name) {
    const ResultsOutput* const output = find_output(name);
    if (output == nullptr || output->scope != OutputScope::all_variants) return false;
    return !state.owns(name) && !outputs.wants(name);
  };
  std::error_code code;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(folder, code);
  for (const std::filesystem::path& input : outputs.inputs) {
    const std::filesystem::path file = std::filesystem::weakly_canonical(input, code);
    const std::string name = file.lexically_relative(canonical).string();
    if (!is_results_name(name) || spared(name)) continue;
    throw UsageError("the input " + input.string() + " lies in " + folder.string() +
                     " where results are written; copy it to another place, or choose another folder");
  }
}

}  // namespace epsflow::io
