#include <epsflow/io/results/results_folder.hpp>

#include <sys/statvfs.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/results/commit_thread.hpp>
#include <epsflow/io/results/results_kept.hpp>
#include <epsflow/io/results/results_obstacles.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write/trace_json.hpp>

namespace epsflow::io {
namespace {

/// summary.csv is written again at most so often, and for at most this share of the time.
constexpr std::chrono::seconds kPublicationInterval{2};
constexpr int kPublicationShare = 20;
constexpr std::string_view kRunning = "running";

template <class T>
std::vector<T> read_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n) {
  std::vector<T> values(n);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(require_vector(file, type, n)));
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(n * sizeof(T)));
  if (!in) throw InputError("cannot read " + file.string() + "; make it again with FolderMode::resume");
  return values;
}

/// Throws UsageError if the wanted outputs and their writers do not match.
void require_writers(const FolderOutputs& outputs, std::span<const VariantWriter> writers) {
  for (const ResultsOutput& output : kResultsOutputs) {
    if (!output.copy) continue;
    const auto wanted = outputs.wanted.find(output.name);
    const bool given = std::ranges::any_of(writers, [&](const VariantWriter& writer) {
      return writer.folder == output.name && (wanted == outputs.wanted.end() || writer.extension == wanted->second);
    });
    if (given == (wanted != outputs.wanted.end())) continue;
    throw UsageError("a folder with " + std::string(output.name) +
                     "/ needs the extension of its files and what writes them; give both");
  }
}

}  // namespace

ResultsFolder::ResultsFolder(std::filesystem::path folder, const Sweep& sweep, FolderMode mode, FolderOutputs outputs,
                             Notice notice)
    : folder_(require_folder(std::move(folder))),
      hidden_(folder_ / ".epsflow"),
      base_(folder_),
      asked_(sweep.variants()),
      mode_(mode),
      outputs_(std::move(outputs)),
      notice_(std::move(notice)),
      lock_((require_no_links(folder_), folder_), hidden_, notice_) {
  if (auto left = recover(folder_)) left_ = std::make_unique<JournalContents>(std::move(*left));
  state_ = read_manifest(folder_);
  if (left_ && !left_->replaces) merge(*left_, state_);
  if (mode_ == FolderMode::fresh && !state_.entries.empty()) {
    throw UsageError(folder_.string() + " holds results already; " +
                     (outputs_.resumable ? "add to them with FolderMode::resume, " : "") +
                     "replace them with FolderMode::overwrite, or choose another folder");
  }
  require_no_strangers(folder_, state_, asked_, outputs_);
  require_no_inputs(folder_, state_, outputs_);
}

ResultsFolder::~ResultsFolder() {
  thread_.reset();
  if (journal_ != nullptr && state_.entries.empty()) leave();
}

void ResultsFolder::ask(const Sweep& sweep) {
  asked_ = sweep.variants();
  require_no_strangers(folder_, state_, asked_, outputs_);
}

std::vector<Variant> ResultsFolder::begin(const ResultsInput& input, RunDescription run,
                                          std::vector<VariantWriter> writers) {
  require_writers(outputs_, writers);
  const std::string checksum = checksum_of_input(input, run.metric);
  const bool holds = !state_.entries.empty();
  if (mode_ == FolderMode::resume && holds && state_.checksum != checksum) {
    throw InputError(folder_.string() + " holds results of " + describe_difference(state_, checksum) +
                     "; choose another folder, or replace them with FolderMode::overwrite");
  }
  run_ = std::move(run);
  started_ = now_utc();
  points_ = input.points;
  writers_ = std::move(writers);
  std::error_code code;
  const std::filesystem::path replacement = hidden_ / "replacement";
  if (mode_ == FolderMode::overwrite && holds) {
    if (left_ && !left_->replaces) save_manifest(folder_, state_);  // what the journal tells, before it makes room
    base_ = replacement;
    old_ = std::exchange(state_, {});
    if (left_ && left_->replaces && left_->checksum == checksum) {
      state_ = read_manifest(replacement);
      merge(*left_, state_);
    } else {
      std::filesystem::remove_all(replacement, code);
    }
  } else {
    if (!holds) {
      if (!state_.runs.empty()) remove_results(folder_, state_);
      state_ = {};
    }
    if (left_ && left_->replaces && notice_) {
      notice_(folder_.string() +
              " held a replacement that was not complete, for FolderMode::overwrite to go on with: it is " + "removed");
    }
    std::filesystem::remove_all(replacement, code);
  }
  KeptResults kept{base_, hidden_, state_, asked_, outputs_, notice_};
  kept.drop_unsound(points_);
  if (replacing()) kept.drop_unasked();
  for (const VariantWriter& writer : writers_) kept.drop_outdated(writer);
  if (!state_.runs.empty() && status_of(state_.runs.back()) == kRunning) {
    state_.runs.back() = with_status(state_.runs.back(), "killed");
  }
  state_.checksum = checksum;
  state_.input = describe_input(input, checksum);
  state_.runs.push_back(describe_run(run_, started_, std::string(kRunning), 0, {}));
  std::vector<Variant> left_to_do = kept.missing();
  settle_hdf5(kept, left_to_do);

  clear_partial();
  std::filesystem::create_directories(base_, code);
  if (code) throw_cannot_write(base_, code.value());
  // They would no longer hold all variants that are there. The files of an exploration are of its map, whatever is added.
  for (const ResultsOutput& output : kResultsOutputs) {
    const std::string name(output.name);
    if (output.scope != OutputScope::all_variants || left_to_do.empty()) continue;
    if (!state_.owns(name) || state_.owns(kExploreName)) continue;
    kept.remove_file(name);
    if (notice_ && !outputs_.wants(name)) {
      notice_((base_ / name).string() + " is removed, as it does not know of the variants that are added");
    }
  }
  if (!state_.entries.empty()) save_manifest(base_, state_);
  journal_ = std::make_unique<Journal>(
      hidden_ / "journal", JournalContents{.replaces = replacing(), .input = state_.input, .run = state_.runs.back()});
  if (input.origin.renumbered()) {
    const std::vector<std::int64_t> rows = row_numbers(input.origin, points_);
    place(kRowsName, [&](const auto& file) { write_npy(file, npy_rows(rows), Overwrite::replace); });
  }
  warn_of_full_disk(points_, left_to_do.size());
  next_publication_ = std::chrono::steady_clock::now() + kPublicationInterval;
  thread_ = std::make_unique<CommitThread>([this](const std::vector<PendingVariant>& batch) { commit(batch); });
  return left_to_do;
}

/// Whether sweep.h5 is to be written, which has the labels of all variants.
void ResultsFolder::settle_hdf5(KeptResults& kept, const std::vector<Variant>& left_to_do) {
  const bool before = state_.owns(kHdf5Name) || asked_for_hdf5(state_);
  const bool asked = outputs_.wants(kHdf5Name);
  if (!asked && !before) return;
  bool labelled = outputs_.wants(kLabelsFolder) || left_to_do.empty();
  const std::set<Variant, VariantOrder> made(left_to_do.begin(), left_to_do.end());
  for (const auto& [variant, entry] : state_.entries) {
    labelled = labelled && (entry.has_labels || made.contains(variant));
  }
  if (asked && !labelled) {
    throw UsageError(folder_.string() + " holds variants whose counts alone were kept, and " + kHdf5Name +
                     " has the labels of all; sweep these as well, or choose another folder");
  }
  if (!left_to_do.empty() || !labelled) kept.remove_file(kHdf5Name);
  if (labelled) outputs_.wanted.try_emplace(kHdf5Name);
  if (before && !labelled && notice_) {
    notice_((base_ / kHdf5Name).string() +
            " is not written, as it has labels, and of some variants counts alone are kept");
  }
}

void ResultsFolder::clear_partial() const {
  std::error_code code;
  std::filesystem::remove_all(hidden_ / "partial", code);
  std::filesystem::create_directory(hidden_ / "partial", code);
  if (code) throw_cannot_write(hidden_ / "partial", code.value());
}

void ResultsFolder::warn_of_full_disk(std::uint64_t points, std::size_t variants) const {
  struct statvfs disk {};
  if (!notice_ || variants == 0 || statvfs(hidden_.c_str(), &disk) != 0) return;
  const std::uint64_t labels = outputs_.wants(kLabelsFolder) ? points * sizeof(std::int32_t) * variants : 0;
  std::uint64_t copies = 0;
  for (const VariantWriter& writer : writers_) copies += writer.bytes * variants;
  const std::uint64_t masks = outputs_.wants(kCoreFolder) ? points * variants : 0;
  const std::uint64_t wanted = labels + copies + masks + (outputs_.wants(kHdf5Name) ? labels : 0);
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (wanted <= free) return;
  notice_(format_count(variants, "variant") + " of " + format_count(points, "point") + " take up to " +
          format_bytes(wanted) + ", and " + format_bytes(free) + " are free in " + folder_.string() +
          ": it may get full; what is finished by then stays valid");
}

PendingFile ResultsFolder::stage(const std::string& name, const NpyArray& array) const {
  return stage(name, [&](const auto& file, const auto& target) { return write_array(file, target, array); });
}

PendingFile ResultsFolder::stage(const std::string& name, const Write& write) const {
  PendingFile file{name, hidden_ / partial_name(name), {}};
  try {
    file.digest = write(file.partial, folder_ / name);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(file.partial, ignored);  // so that there is room to tell what is finished
    throw;
  }
  return file;
}

void ResultsFolder::add(const VariantResult& result) {
  PendingVariant variant;
  variant.entry = {result.variant, result.summary, result.seconds, outputs_.wants(kLabelsFolder)};
  if (outputs_.wants(kLabelsFolder))
    variant.files.push_back(stage(labels_name(result.variant), npy_labels(result.labels)));
  if (outputs_.wants(kCoreFolder)) variant.files.push_back(stage(core_name(result.variant), npy_mask(result.core)));
  for (const VariantWriter& writer : writers_) {
    const std::string name = variant_file(writer.folder, result.variant, writer.extension);
    variant.files.push_back(stage(name, [&](const std::filesystem::path& file, const std::filesystem::path& target) {
      writer.write(file, target, result);
      return digest_of(file).value_or(FileDigest{});
    }));
  }
  thread_->add(std::move(variant));
}

SharedResults ResultsFolder::shared() const {
  return {folder_, std::filesystem::absolute(hidden_), points_, outputs_.wants(kLabelsFolder),
          outputs_.wants(kCoreFolder)};
}

std::vector<SharedVector> SharedResults::vectors(const Variant& variant) const {
  std::vector<SharedVector> all;
  const auto add = [&](const std::string& name, const std::string& type) {
    all.push_back({name, partial / partial_name(name), folder / name, type, points});
  };
  if (labels) add(labels_name(variant), "<i4");
  if (core) add(core_name(variant), "|b1");
  return all;
}

void ResultsFolder::add_shared(const VariantResult& result, std::span<const FileDigest> digests) {
  PendingVariant variant;
  variant.entry = {result.variant, result.summary, result.seconds, outputs_.wants(kLabelsFolder)};
  auto digest = digests.begin();
  for (const SharedVector& vector : shared().vectors(result.variant)) {
    variant.files.push_back({vector.name, vector.file, *digest++});
  }
  thread_->add(std::move(variant));
}

/// Bytes, then the journal, then the names: whenever this is cut off, the journal knows every file that has its name.
void ResultsFolder::commit(const std::vector<PendingVariant>& batch) {
  std::vector<std::filesystem::path> files;
  for (const PendingVariant& variant : batch) {
    for (const PendingFile& file : variant.files) files.push_back(file.partial);
  }
  make_durable(files);
  for (const PendingVariant& variant : batch) {
    for (const PendingFile& file : variant.files) journal_->add(file.name, file.digest);
    journal_->add(variant.entry);
  }
  journal_->sync();
  std::error_code code;
  std::unordered_set<std::string> folders;
  for (const PendingVariant& variant : batch) {
    for (const PendingFile& file : variant.files) {
      const std::filesystem::path target = base_ / file.name;
      if (folders.insert(target.parent_path()).second) std::filesystem::create_directories(target.parent_path(), code);
      if (!code) std::filesystem::rename(file.partial, target, code);
      if (code) throw_cannot_write(target, code.value());
      state_.files[file.name] = file.digest;
    }
    state_.entries.insert_or_assign(variant.entry.variant, variant.entry);
  }
  publish();
}

/// Lets whoever looks at the folder see how far the run is.
void ResultsFolder::publish() {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_publication_) return;
  save_manifest(base_, state_);
  const auto end = std::chrono::steady_clock::now();
  next_publication_ =
      end + std::max<std::chrono::steady_clock::duration>(kPublicationInterval, kPublicationShare * (end - begin));
}

/// Writes a file of the folder that the journal knows of before it has its name.
void ResultsFolder::place(const std::string& name, const std::function<void(const std::filesystem::path&)>& write) {
  const std::filesystem::path file = hidden_ / partial_name(name);
  try {
    write(file);
  } catch (const ResourceError& e) {
    // People know the file by the name that it was to have.
    std::string text = e.what();
    if (const std::size_t at = text.find(file.string()); at != std::string::npos) {
      text.replace(at, file.string().size(), (folder_ / name).string());
    }
    throw ResourceError(text);
  }
  const FileDigest digest = digest_of(file).value_or(FileDigest{});
  journal_->add(name, digest);
  journal_->sync();
  commit_file(file, base_ / name, Overwrite::replace);
  state_.files[name] = digest;
}

void ResultsFolder::add_file(const std::string& name, const std::function<void(const std::filesystem::path&)>& write) {
  thread_->finish();  // which uses the journal, too
  place(name, write);
}

void ResultsFolder::finish(const std::string& status, double seconds, const Trace& trace, const std::string& reason) {
  std::exception_ptr failed;
  std::string why = reason;
  const auto attempt = [&](const auto& step) {
    if (failed != nullptr) return;
    try {
      step();
    } catch (const Error& e) {
      failed = std::current_exception();
      why = e.what();
    }
  };
  attempt([&] { thread_->finish(); });
  thread_.reset();
  clear_partial();  // on a full disk, room for what follows
  if (!state_.entries.empty()) {
    if (status == "complete") attempt([&] { write_hdf5(seconds); });
    attempt([&] { place(kTraceName, [&](const auto& file) { write_text_file(file, trace_json(trace)); }); });
    state_.runs.back() = describe_run(run_, started_, failed != nullptr ? "failed" : status, seconds, why);
    save_manifest(base_, state_);
    if (replacing() && status == "complete" && failed == nullptr) {
      journal_->add_commit();
      journal_->sync();
      static_cast<void>(recover(folder_));
      old_.reset();
    }
  }
  leave();
  if (failed != nullptr) std::rethrow_exception(failed);
}

void ResultsFolder::write_hdf5(double seconds) {
  if (!outputs_.wants(kHdf5Name) || state_.owns(kHdf5Name)) return;
  std::vector<SweepEntry> entries;
  entries.reserve(state_.entries.size());
  for (const auto& [variant, entry] : state_.entries) entries.push_back(entry);
  Manifest described = state_;
  described.runs.back() = describe_run(run_, started_, "complete", seconds, {});
  Hdf5Sweep sweep{.points = points_, .description = manifest_json(described, false)};
  sweep.labels = [&](std::size_t v) {
    return read_vector<std::int32_t>(base_ / labels_name(entries[v].variant), "<i4", points_);
  };
  sweep.core = [&](std::size_t v) {
    const std::string name = core_name(entries[v].variant);
    return state_.owns(name) ? read_vector<std::int8_t>(base_ / name, "|b1", points_) : std::vector<std::int8_t>();
  };
  if (state_.owns(kRowsName)) sweep.rows = read_vector<std::int64_t>(base_ / kRowsName, "<i8", points_);
  place(kHdf5Name, [&](const auto& file) { write_hdf5_sweep(file, entries, sweep); });
}

/// Removes what a run has of its own; a replacement that is not complete stays, with the journal that tells of it.
void ResultsFolder::leave() {
  std::error_code ignored;
  journal_.reset();
  std::filesystem::remove_all(hidden_ / "partial", ignored);
  if (replacing() && !state_.entries.empty()) return;
  if (state_.entries.empty()) {
    KeptResults all{base_, hidden_, state_, asked_, outputs_, notice_};
    while (!state_.files.empty()) all.remove_file(std::string(state_.files.begin()->first));
  }
  clear_hidden(folder_);
}

}  // namespace epsflow::io
