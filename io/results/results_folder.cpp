#include <epsflow/io/results/results_folder.hpp>

#include <sys/statvfs.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_set>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>

namespace epsflow::io {

/// A file of results under its temporary name.
struct PendingFile {
  std::string name;  ///< the final name
  std::filesystem::path partial;
  FileDigest digest;
};

/// A variant whose files are written, the labels first, but still have their temporary names.
struct PendingVariant {
  SweepEntry entry;
  std::vector<PendingFile> files;
};

/// A thread that makes finished variants durable, so that a sweep does not wait for the disk. Passes variants to
/// `commit` in batches: about one batch a second, or at once if there are many bytes.
class CommitThread {
 public:
  using Commit = std::function<void(const std::vector<PendingVariant>&)>;

  explicit CommitThread(Commit commit) : commit_(std::move(commit)), thread_([this] { run(); }) {}
  /// Ends the thread. Does not commit waiting variants.
  ~CommitThread() { stop(false); }
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  /// Adds a variant. Throws the exception that `commit` threw on the thread. Thread-safe.
  void add(PendingVariant variant);
  /// Waits until everything is committed, and ends the thread. Throws the exception that `commit` threw.
  void finish();

 private:
  void run() noexcept;
  void stop(bool drain);

  Commit commit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PendingVariant> pending_;
  std::uint64_t pending_bytes_ = 0;
  std::chrono::steady_clock::time_point first_;  ///< time at which the first of pending_ was added
  bool stopping_ = false;
  std::exception_ptr failed_;
  std::thread thread_;
};

namespace {

constexpr std::chrono::seconds kInterval{1};
constexpr std::uint64_t kMuch = 1ULL << 28;  // 256 MiB: one second of a fast disk

/// summary.csv is written again after at least this interval, and takes at most one in this many parts of the time.
constexpr std::chrono::seconds kPublicationInterval{2};
constexpr int kPublicationShare = 20;

template <class T>
std::vector<T> read_vector(const std::filesystem::path& file, const std::string& type, std::uint64_t n) {
  std::vector<T> values(n);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(require_vector(file, type, n)));
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(n * sizeof(T)));
  if (!in) throw InputError("cannot read " + file.string() + "; make it again with FolderMode::resume");
  return values;
}

/// Returns the trace in Chrome's trace event format, for Perfetto or chrome://tracing.
std::string trace_json(const Trace& trace) {
  using nlohmann::ordered_json;
  ordered_json events = ordered_json::array();
  for (const TraceSpan& span : trace.spans()) {
    events.push_back({{"name", stage_name(span.stage)},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"ts", static_cast<double>(span.begin_ns) / 1000},
                      {"dur", static_cast<double>(span.end_ns - span.begin_ns) / 1000},
                      {"args", {{"eps", span.eps}, {std::string(span.detail.name), span.detail.value}}}});
  }
  ordered_json json;
  json["traceEvents"] = std::move(events);
  json["displayTimeUnit"] = "ms";
  json["otherData"] = {{"retries", std::to_string(trace.retries())},
                       {"asked", std::to_string(trace.undecided_pairs())}};
  return json.dump() + "\n";
}

/// Throws UsageError if the requested outputs and their writers do not match.
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

void CommitThread::add(PendingVariant variant) {
  const std::scoped_lock lock(mutex_);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  if (pending_.empty()) first_ = std::chrono::steady_clock::now();
  for (const PendingFile& file : variant.files) pending_bytes_ += file.digest.bytes;
  pending_.push_back(std::move(variant));
  if (pending_.size() == 1 || pending_bytes_ >= kMuch) changed_.notify_one();
}

void CommitThread::finish() {
  stop(true);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
}

void CommitThread::stop(bool drain) {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (!drain) pending_.clear();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CommitThread::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
    changed_.wait_until(lock, first_ + kInterval, [&] { return stopping_ || pending_bytes_ >= kMuch; });
    if (pending_.empty()) {
      if (stopping_) return;
      continue;
    }
    const std::vector<PendingVariant> batch = std::exchange(pending_, {});
    pending_bytes_ = 0;
    lock.unlock();
    try {
      commit_(batch);
      lock.lock();
    } catch (...) {
      lock.lock();
      failed_ = std::current_exception();
      pending_.clear();
      return;
    }
  }
}

ResultsFolder::ResultsFolder(std::filesystem::path folder, std::vector<Variant> variants, FolderMode mode,
                             FolderOutputs outputs, Notice notice)
    : folder_(require_folder(std::move(folder))),
      hidden_(folder_ / ".epsflow"),
      base_(folder_),
      asked_(std::move(variants)),
      mode_(mode),
      outputs_(std::move(outputs)),
      notice_(notice ? std::move(notice) : [](const std::string&) {}),
      lock_(folder_, hidden_, notice_),
      left_(recover(folder_)) {
  state_ = read_manifest(folder_);
  if (left_ && !left_->replaces) state_.merge(left_->state);
  const bool resumable = outputs_.resumable && !state_.of_hierarchies();
  const bool must_be_empty = mode_ == FolderMode::fresh || (mode_ == FolderMode::resume && !resumable);
  if (must_be_empty && !state_.entries.empty()) {
    throw UsageError(folder_.string() + " holds results " + (state_.of_hierarchies() ? "of hierarchies " : "") +
                     "already; " + (resumable ? "add to them with FolderMode::resume, " : "") +
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
  run_ = std::move(run);
  started_ = now_utc();
  points_ = input.points;
  writers_ = std::move(writers);
  choose_base(checksum);
  const bool had_hdf5 = state_.owns(kHdf5Name) || state_.asked_for_hdf5();
  keep_results();
  state_.checksum = checksum;
  state_.input = describe_input(input, checksum);
  state_.runs.push_back(describe_run(run_, started_, "running", 0, {}));
  std::vector<Variant> pending = missing();
  choose_hdf5(pending, had_hdf5);

  clear_partial();
  make_folder(base_, base_);
  drop_incomplete(pending);
  if (!state_.entries.empty()) save_manifest(base_, state_);
  journal_ = std::make_unique<Journal>(hidden_ / "journal", state_, replacing_);
  if (input.origin.renumbered()) {
    const std::vector<std::int64_t> rows = row_numbers(input.origin, points_);
    store_file(kRowsName, [&](const auto& file) { write_npy(file, npy_rows(rows), Overwrite::replace); });
  }
  warn_of_full_disk(pending.size());
  next_publication_ = std::chrono::steady_clock::now() + kPublicationInterval;
  thread_ = std::make_unique<CommitThread>([this](const std::vector<PendingVariant>& batch) { commit(batch); });
  return pending;
}

void ResultsFolder::clear_partial() const {
  std::error_code ignored;
  std::filesystem::remove_all(hidden_ / "partial", ignored);
  make_folder(hidden_ / "partial", hidden_ / "partial");
}

void ResultsFolder::warn_of_full_disk(std::size_t variants) const {
  struct statvfs disk {};
  if (variants == 0 || statvfs(hidden_.c_str(), &disk) != 0) return;
  const std::uint64_t labels = outputs_.wants(kLabelsFolder) ? points_ * sizeof(std::int32_t) : 0;
  std::uint64_t each = labels + (outputs_.wants(kHdf5Name) ? labels : 0) + (outputs_.wants(kCoreFolder) ? points_ : 0);
  for (const VariantWriter& writer : writers_) each += writer.bytes;
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (each * variants <= free) return;
  notice_(format_count(variants, "variant") + " of " + format_count(points_, "point") + " take up to " +
          format_bytes(each * variants) + ", and " + format_bytes(free) + " are free in " + folder_.string() +
          ": it may get full; what is finished by then stays valid");
}

PendingVariant ResultsFolder::pending(const VariantResult& result) const {
  return {{result.variant, result.summary, result.seconds, outputs_.wants(kLabelsFolder)}, {}};
}

/// Calls write(file, target) with the temporary name of a file of the variant; `target` is for errors.
void ResultsFolder::stage(
    PendingVariant& variant, const std::string& name,
    const std::function<FileDigest(const std::filesystem::path&, const std::filesystem::path&)>& write) const {
  const std::filesystem::path partial = hidden_ / partial_name(name);
  try {
    variant.files.push_back({name, partial, write(partial, folder_ / name)});
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);  // on a full disk, frees space for the record of finished variants
    throw;
  }
}

void ResultsFolder::add(const VariantResult& result, double persistence) {
  PendingVariant variant = pending(result);
  variant.entry.persistence = persistence;
  const auto stage_array = [&](const std::string& name, const NpyArray& array) {
    stage(variant, name, [&](const auto& file, const auto& target) { return write_array(file, target, array); });
  };
  if (outputs_.wants(kLabelsFolder)) stage_array(labels_name(result.variant), npy_labels(result.labels));
  if (outputs_.wants(kCoreFolder)) stage_array(core_name(result.variant), npy_mask(result.core));
  for (const VariantWriter& writer : writers_) {
    const std::string name = variant_file(writer.folder, result.variant, writer.extension);
    stage(variant, name, [&](const auto& file, const auto& target) {
      writer.write(file, target, result);
      return digest_of(file).value_or(FileDigest{});
    });
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
  PendingVariant variant = pending(result);
  auto digest = digests.begin();
  for (const SharedVector& vector : shared().vectors(result.variant)) {
    variant.files.push_back({vector.name, vector.file, *digest++});
  }
  thread_->add(std::move(variant));
}

/// Writes bytes, then the journal, then the names. Cut off at any point, the journal lists every file that has its
/// name.
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
  // Shows the progress of the run to people, now and then.
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_publication_) return;
  save_manifest(base_, state_);
  const auto end = std::chrono::steady_clock::now();
  next_publication_ =
      end + std::max<std::chrono::steady_clock::duration>(kPublicationInterval, kPublicationShare * (end - begin));
}

/// Writes a file of the folder. The journal lists it before it gets its name.
void ResultsFolder::store_file(const std::string& name, const WriteFile& write) {
  const std::filesystem::path file = hidden_ / partial_name(name);
  try {
    write(file);
  } catch (const ResourceError& e) {
    // The final name is the one that the user has seen.
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
  thread_->finish();  // the thread uses the journal, too
  store_file(name, write);
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
  clear_partial();  // on a full disk, frees space for the next files
  if (!state_.entries.empty()) {
    if (status == "complete") attempt([&] { write_hdf5(seconds); });
    attempt([&] { store_file(kTraceName, [&](const auto& file) { write_text_file(file, trace_json(trace)); }); });
    state_.runs.back() = describe_run(run_, started_, failed != nullptr ? "failed" : status, seconds, why);
    save_manifest(base_, state_);
    if (replacing_ && status == "complete" && failed == nullptr) {
      journal_->add_commit();
      journal_->sync();
      static_cast<void>(recover(folder_));
      replacing_ = false;
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
  store_file(kHdf5Name, [&](const auto& file) { write_hdf5_sweep(file, entries, sweep); });
}

/// Removes the files of the run itself. A replacement that a later run can complete stays, with its journal.
void ResultsFolder::leave() {
  std::error_code ignored;
  journal_.reset();
  std::filesystem::remove_all(hidden_ / "partial", ignored);
  if (replacing_ && outputs_.resumable && !state_.entries.empty()) return;
  if (state_.entries.empty()) remove_files([](const std::string&, const FileDigest&) { return true; });
  clear_hidden(folder_);
}

}  // namespace epsflow::io
