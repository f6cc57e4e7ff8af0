// The input of epsflow watch: rows from files, from a folder that fills, or from standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include <epsflow/cli/output.hpp>
#include <epsflow/cli/watch_rows.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/io/checksum.hpp>

namespace epsflow::cli {

/// A position in the input between two rows, and counts of the rows before it. A later run can go on from there.
struct InputPosition {
  std::uint64_t files = 0;     ///< files that were read to their end; standard input is not counted
  std::uint64_t offset = 0;    ///< bytes of the file after them that were read
  io::Checksum checksum = {};  ///< the checksum of these bytes
  std::uint64_t rows = 0;      ///< rows of the whole input that were read, those without a value included
  std::uint64_t skipped = 0;   ///< of these, the rows without a coordinate or a time
  TimeKind times = TimeKind::unknown;
};

/// A file as it was when it was opened.
struct OpenedFile {
  std::string name;  ///< within a folder: without the path
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t changed = 0;  ///< the time of its last change, in nanoseconds
  bool told = false;         ///< a message about a later change was printed
  bool faulty = false;       ///< a line of it was refused: a later run reads the file as it is then
};

enum class SourceKind : std::uint8_t { files, folder, standard_input };

struct WatchSource {
  SourceKind kind = SourceKind::files;
  std::vector<std::string> operands;  ///< the files, or the one folder
  std::vector<std::string> columns;   ///< the columns of the coordinates
  std::string time;                   ///< the column of the time
  bool drop = false;                  ///< rows without a value are dropped; otherwise they are an error
  double settle = 1;                  ///< a file of a folder is read after its size has been the same for these seconds
  bool once = false;                  ///< the input ends once all files of a folder are read
  Messages messages;
};

/// The event that WatchInput::next() returns: a row, the end of one file (not of standard input), the end of the whole
/// input, an interrupt.
enum class InputEvent : std::uint8_t { row, file_end, end, interrupted };

class LineReader;

/// Reads the rows of a WatchSource one after the other, and waits for more rows if the source can still grow.
class WatchInput {
 public:
  /// idle: called repeatedly, at least about twice a second, while the input waits for more. `source` and `interrupt`
  /// must outlive the object.
  WatchInput(const WatchSource& source, const CancelToken& interrupt, std::function<void()> idle);
  ~WatchInput();
  WatchInput(const WatchInput&) = delete;  // readers hold references to it
  WatchInput& operator=(const WatchInput&) = delete;

  /// Goes to a position of an earlier run. Reads the bytes of its file up to the position once more. files: the files
  /// that were opened before the position. Throws InputError if the earlier run read other bytes there, UsageError if
  /// other files are named.
  void resume(const InputPosition& position, std::vector<OpenedFile> files);

  /// Reads on to the next event and returns it. A row is written to `row`; dropped rows are passed over. Throws
  /// InputError that names file and line.
  [[nodiscard]] InputEvent next(StreamRow& row);

  /// Returns the position after the last event.
  [[nodiscard]] const InputPosition& position() const noexcept { return position_; }
  /// Returns the files that were opened, in their order.
  [[nodiscard]] const std::vector<OpenedFile>& files() const noexcept { return files_; }
  /// Returns the file and the line that was read last, for errors.
  [[nodiscard]] std::string where() const;
  /// Throws InputError with the last line and its fault.
  [[noreturn]] void throw_of_line(std::string_view fault);

 private:
  /// A file of the folder that has not been read.
  struct Unread {
    std::uint64_t size = 0;
    Stopwatch found = {};
    Stopwatch since = {};  ///< begins when the size was first seen
    bool unreadable = false;
    bool told = false;  ///< a message about its growth was printed
  };

  /// Opens the next file. Returns InputEvent::row if there is one.
  [[nodiscard]] InputEvent open_next();
  [[nodiscard]] InputEvent open_next_in_folder();
  /// Lists in ready_ the files that can be read now. Returns true if others have to be waited for.
  [[nodiscard]] bool scan_folder();
  /// Returns true if a file of the folder is to be read and its size has settled.
  [[nodiscard]] bool is_settled(const std::string& name);
  [[nodiscard]] bool try_open(const std::string& name);
  void open(const std::string& name);
  [[nodiscard]] std::string path_of(const std::string& name) const;
  /// Prints a message if a file that was read to its end has changed.
  void tell_change(OpenedFile& file) const;
  void wait() const;
  [[nodiscard]] bool holds_row(std::string_view line);

  const WatchSource& source_;
  const CancelToken& interrupt_;
  std::function<void()> idle_;
  WatchRowParser parser_;
  InputPosition position_;
  std::vector<OpenedFile> files_;
  std::unique_ptr<LineReader> lines_;          ///< of the file that is being read
  bool ended_ = false;                         ///< standard input was read to its end
  std::map<std::string, std::size_t> opened_;  ///< the index in files_
  std::map<std::string, Unread> unread_;
  std::deque<std::string> ready_;
};

}  // namespace epsflow::cli
