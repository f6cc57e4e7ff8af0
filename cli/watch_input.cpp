#include <epsflow/cli/watch_input.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::cli {
namespace {

constexpr int kPollMilliseconds = 500;
constexpr double kLongSeconds = 10;  ///< of growth, before a message about it
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

OpenedFile described(const std::string& name, const struct stat& status) {
  return {.name = name,
          .size = static_cast<std::uint64_t>(status.st_size),
          .inode = status.st_ino,
          .changed = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

/// Throws InputError unless a name is UTF-8: snapshots hold names as JSON.
void require_utf8(std::string_view name) {
  if (!io::is_utf8(name)) throw input_error("{}: the name is not in UTF-8: rename the file", io::show_name(name));
}

/// Returns the names of the input files in a folder, sorted. Throws InputError.
std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::filesystem::path name = entry.path().filename();
    const bool is_input = name.extension() == ".csv" || name.extension() == ".jsonl";
    std::error_code ignored;
    if (is_input && name.string().front() != '.' && !entry.is_directory(ignored)) names.insert(name.string());
  }
  if (code) throw input_error("{}: cannot list the folder: {}", io::show_name(folder), code.message());
  return names;
}

}  // namespace

/// Reads lines from a file or from standard input, in pieces.
class LineReader {
 public:
  enum class Got : std::uint8_t { line, end, interrupted };

  LineReader(const std::string& path, const CancelToken& interrupt, const std::function<void()>& idle)
      : shown(io::display_name(path)), interrupt_(interrupt), idle_(idle) {
    int opened = -1;
    do {
      opened = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (opened < 0 && errno == EINTR && !interrupt.cancelled());
    descriptor_ = io::OwnedDescriptor(opened);
    if (opened < 0 || fstat(opened, &status) != 0) fail(errno);
    if (S_ISREG(status.st_mode)) limit = static_cast<std::uint64_t>(status.st_size);
  }

  /// Returns the next line without its end. It is valid until the next call. The bytes after the last line end are a
  /// line, too. If the file has grown, a line that `limit` divides is read to its end.
  [[nodiscard]] Got next(std::string_view& line) {
    while (true) {
      const std::size_t end = std::string_view(buffer_).find('\n', begin_);
      if (end != std::string::npos) return take(end + 1, line);
      if (buffer_.size() - begin_ > kMostLineBytes) {
        throw input_error("{}: line {} is longer than {}", shown, number + 1, format_bytes(kMostLineBytes));
      }
      if (at_end_) return begin_ < buffer_.size() ? take(buffer_.size(), line) : Got::end;
      if (!read_piece()) return Got::interrupted;
    }
  }

  const std::string shown;  ///< the name in errors
  struct stat status {};
  std::optional<std::uint64_t> limit;  ///< reads the lines that begin before this byte, whatever is appended later
  bool finishes = true;                ///< a line that `limit` divides is read to its end
  std::uint64_t number = 0;            ///< lines that were read
  std::uint64_t offset = 0;            ///< bytes of these lines
  io::Checksum checksum;               ///< the checksum of these bytes

 private:
  Got take(std::size_t end, std::string_view& line) {
    line = std::string_view(buffer_).substr(begin_, end - begin_);
    checksum.add(line);
    offset += line.size();
    ++number;
    begin_ = end;
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return Got::line;
  }

  /// Waits for bytes and appends them to the buffer. Returns false if the program is interrupted.
  bool read_piece() {
    buffer_.erase(0, std::exchange(begin_, 0));
    const std::size_t left =
        limit ? static_cast<std::size_t>(std::min<std::uint64_t>(*limit - done_, kPieceBytes)) : kPieceBytes;
    at_end_ = left == 0;
    if (at_end_ && !buffer_.empty() && finishes) finish_line();
    while (!at_end_ && !interrupt_.cancelled()) {
      pollfd waiting{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waiting, 1, kPollMilliseconds);
      if (ready == 0) idle_();
      if (ready < 0 && errno != EINTR) fail(errno);
      if (ready <= 0) continue;
      const std::size_t before = buffer_.size();
      buffer_.resize(before + left);
      const ssize_t got = ::read(descriptor_.get(), buffer_.data() + before, left);
      const int error = errno;
      buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && error != EINTR && error != EAGAIN) fail(error);
      if (got < 0) continue;
      if (got == 0 && limit) throw input_error("{}: was shortened while it was read", shown);
      done_ += static_cast<std::uint64_t>(got);
      at_end_ = got == 0;
      return true;
    }
    return at_end_;
  }

  void finish_line() {
    char next = 0;
    while (!buffer_.ends_with('\n') && buffer_.size() <= kMostLineBytes && ::read(descriptor_.get(), &next, 1) == 1) {
      buffer_ += next;
    }
  }

  [[noreturn]] void fail(int error) const {
    throw input_error("{}: cannot read the file: {}", shown, std::generic_category().message(error));
  }

  const CancelToken& interrupt_;
  const std::function<void()>& idle_;
  io::OwnedDescriptor descriptor_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the next line in the buffer
  std::uint64_t done_ = 0;
  bool at_end_ = false;
};

WatchInput::WatchInput(const WatchSource& source, const CancelToken& interrupt, std::function<void()> idle)
    : source_(source),
      interrupt_(interrupt),
      idle_(std::move(idle)),
      parser_(source.columns, source.time, source.drop) {}

WatchInput::~WatchInput() = default;

void WatchInput::resume(const InputPosition& position, std::vector<OpenedFile> files) {
  files_ = std::move(files);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    opened_[files_[i].name] = i;
    if (source_.kind != SourceKind::files) continue;
    if (i < source_.operands.size() && source_.operands[i] == files_[i].name) continue;
    throw usage_error("file {} of the earlier run was {}: name the same files, and new ones after them", i + 1,
                      io::show_name(files_[i].name));
  }
  position_ = position;
  parser_.set_times(position.times);
  for (OpenedFile& file : std::span(files_).first(position.files)) tell_change(file);
  if (position.offset == 0) return;
  open(source_.kind == SourceKind::standard_input ? "-" : files_[position.files].name);
  // If the earlier run took the end of the file for the end of a line, it is one for this run, too.
  lines_->finishes = position.offset != lines_->limit;
  while (lines_->offset < position.offset) {
    std::string_view line;
    const LineReader::Got got = lines_->next(line);
    if (got == LineReader::Got::interrupted) return;
    if (got == LineReader::Got::end) break;
    (void)holds_row(line);
  }
  if (lines_->offset == position.offset && lines_->checksum.value() == position.checksum.value()) return;
  throw input_error(
      "{}: its first {} are not those that the earlier run read: give it the same input, or choose another folder for "
      "the results",
      lines_->shown, format_count(position.offset, "byte"));
}

std::string WatchInput::where() const {
  return lines_ == nullptr ? "the end of the input" : fmt::format("{}: line {}", lines_->shown, lines_->number);
}

bool WatchInput::holds_row(std::string_view line) {
  try {
    return parser_.holds_row(line);
  } catch (const InputError& error) {
    throw_of_line(error.what());
  }
}

InputEvent WatchInput::next(StreamRow& row) {
  while (true) {
    if (lines_ == nullptr) {
      const InputEvent opened = open_next();
      if (opened != InputEvent::row) return opened;
    }
    std::string_view line;
    const LineReader::Got got = lines_->next(line);
    if (got == LineReader::Got::interrupted) return InputEvent::interrupted;
    if (got == LineReader::Got::end) {
      lines_.reset();
      ended_ = source_.kind == SourceKind::standard_input;
      if (ended_) return InputEvent::end;
      tell_change(files_[position_.files++]);
      position_.offset = 0;
      position_.checksum = {};
      return InputEvent::file_end;
    }
    bool dropped = false;
    const bool is_row = holds_row(line);
    try {
      dropped = is_row && !parser_.parse(line, row);
    } catch (const InputError& error) {
      throw_of_line(error.what());
    }
    position_.offset = lines_->offset;
    position_.checksum = lines_->checksum;
    position_.times = parser_.times();
    position_.rows += is_row ? 1 : 0;
    position_.skipped += dropped ? 1 : 0;
    if (is_row && !dropped) return InputEvent::row;
  }
}

InputEvent WatchInput::open_next() {
  if (interrupt_.cancelled()) return InputEvent::interrupted;
  if (source_.kind == SourceKind::folder) return open_next_in_folder();
  const bool piped = source_.kind == SourceKind::standard_input;
  if (piped ? ended_ : position_.files == source_.operands.size()) return InputEvent::end;
  open(piped ? "-" : source_.operands[position_.files]);
  return InputEvent::row;
}

void WatchInput::open(const std::string& name) {
  require_utf8(name);
  lines_ = std::make_unique<LineReader>(path_of(name), interrupt_, idle_);
  parser_.begin_file();
  if (source_.kind == SourceKind::standard_input) return;
  if (position_.files == files_.size()) {
    opened_[name] = files_.size();
    files_.push_back(described(name, lines_->status));
  } else if (OpenedFile& file = files_[position_.files]; file.faulty) {
    file = described(name, lines_->status);  // a line of it has been put right, so it is read as it is now
  } else if (lines_->limit) {
    lines_->limit = std::min(*lines_->limit, file.size);
  }
}

std::string WatchInput::path_of(const std::string& name) const {
  if (source_.kind != SourceKind::folder) return name;
  return (std::filesystem::path(source_.operands.front()) / name).string();
}

void WatchInput::throw_of_line(std::string_view fault) {
  if (source_.kind != SourceKind::standard_input) files_[position_.files].faulty = true;
  throw input_error("{}: {}", where(), fault);
}

InputEvent WatchInput::open_next_in_folder() {
  while (!interrupt_.cancelled()) {
    while (!ready_.empty()) {
      const std::string name = std::move(ready_.front());
      ready_.pop_front();
      if (try_open(name)) return InputEvent::row;
    }
    const bool others = scan_folder();
    if (!std::ranges::all_of(ready_, [&](const std::string& name) { return unread_[name].unreadable; })) continue;
    if (!source_.once || others) {
      wait();
    } else if (ready_.empty()) {
      return InputEvent::end;
    } else {
      open(ready_.front());
      ready_.pop_front();
      return InputEvent::row;
    }
  }
  return InputEvent::interrupted;
}

bool WatchInput::scan_folder() {
  bool others = false;
  for (const std::string& name : names_in(source_.operands.front())) {
    if (const auto at = opened_.find(name); at != opened_.end()) {
      if (at->second < position_.files) tell_change(files_[at->second]);
    } else if (!is_settled(name)) {
      others = true;  // the files after it wait, so that files are read in the order of their names
    } else if (!others) {
      ready_.push_back(name);
    }
  }
  return others;
}

bool WatchInput::is_settled(const std::string& name) {
  struct stat now {};
  (void)::stat(path_of(name).c_str(), &now);
  const auto size = static_cast<std::uint64_t>(now.st_size);
  Unread& unread = unread_.try_emplace(name, Unread{.size = size}).first->second;
  if (std::exchange(unread.size, size) != size) unread.since = {};
  const bool settled = unread.since.seconds() >= source_.settle;
  if (!settled && unread.found.seconds() > source_.settle + kLongSeconds && !std::exchange(unread.told, true)) {
    source_.messages.tell("{} keeps growing: it and the files after it are read once it does not", io::show_name(name));
  }
  return settled;
}

bool WatchInput::try_open(const std::string& name) {
  if (!is_settled(name)) return false;
  Unread& unread = unread_[name];
  try {
    open(name);
  } catch (const InputError& error) {
    if (!unread.unreadable) source_.messages.tell("{}; it is tried again", error.what());
    unread.unreadable = true;
    return false;
  }
  unread_.erase(name);
  return true;
}

void WatchInput::tell_change(OpenedFile& file) const {
  struct stat status {};
  const std::string path = path_of(file.name);
  if (file.told || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const OpenedFile now = described(file.name, status);
  if (now.size == file.size && now.inode == file.inode && now.changed == file.changed) return;
  file.told = true;
  const bool replaced = now.inode != file.inode || now.size == file.size;
  source_.messages.tell("{} {} since it was opened: what is new in it is not read", io::show_name(path),
                        replaced               ? "has been replaced"
                        : now.size < file.size ? "has shrunk"
                                               : "has grown");
}

void WatchInput::wait() const {
  idle_();
  const auto settle = static_cast<int>(std::clamp(source_.settle * 1000, 10.0, double{kPollMilliseconds}));
  (void)::poll(nullptr, 0, settle);
}

}  // namespace epsflow::cli
