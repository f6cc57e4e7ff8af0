// A FITS file open for reading, and its tables.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fitsio.h>

#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Files consist of blocks of this many bytes.
inline constexpr std::size_t kFitsBlock = 2880;

/// Returns the mutex to hold around every use of cfitsio, which keeps global state. The destructor of a FitsFile uses
/// cfitsio, too.
[[nodiscard]] std::mutex& fits_mutex();

/// Returns cfitsio's text for a status, followed by the first message on cfitsio's stack, which is the most specific
/// one. Clears the stack.
[[nodiscard]] std::string describe_fits(int status);

/// Throws InputError with describe_fits() if the status of a call of cfitsio is not 0. doing: names the step in errors.
void check_fits(int status, const Source& source, std::string_view doing);

struct CloseFits {
  void operator()(fitsfile* file) const noexcept {
    int status = 0;
    fits_close_file(file, &status);
  }
};
using FitsHandle = std::unique_ptr<fitsfile, CloseFits>;

/// At its destruction, removes the messages that cfitsio put on its stack since the construction. cfitsio leaves
/// messages there even if a call succeeds.
struct FitsMessageMark {
  FitsMessageMark() { fits_write_errmark(); }
  ~FitsMessageMark() { fits_clear_errmark(); }
  FitsMessageMark(const FitsMessageMark&) = delete;
  FitsMessageMark& operator=(const FitsMessageMark&) = delete;
};

/// Returns the text of a keyword of the open header; nullopt if there is none, or its value cannot be read.
[[nodiscard]] std::optional<std::string> read_fits_text(fitsfile* file, const std::string& keyword);

/// A FITS file. Headers of extensions are checked before cfitsio reads them, because some damaged headers make cfitsio
/// write past its buffers. Only a child process reads points from FITS files. But the main process opens FITS files to
/// copy them with labels (io/write/fits_copy.cpp), and such a header would crash it.
class FitsFile {
 public:
  /// source: must outlive the object. Throws InputError if the file is damaged or not a FITS file.
  FitsFile(const LibraryFile& file, const Source& source);

  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< in bytes

  /// Throws InputError if the open table is followed by something other than padding, an extension or the end of the
  /// file. Then its header may state too few rows. An incomplete last block of the file is not checked.
  void require_end_of_table();

 private:
  /// Moves cfitsio to each extension in turn. Checks the header of an extension before cfitsio reads it.
  void visit_extensions();
  /// Returns the block that begins at byte `at`, valid until the next call. Returns nullopt if the file ends before the
  /// block does.
  std::optional<std::string_view> read_block(std::uint64_t at);

  FitsMessageMark mark_;
  const Source& source_;
  std::uint64_t size_;
  std::ifstream stream_;
  std::string block_;
  FitsHandle file_;
};

/// A table in a FITS file.
struct FitsTableEntry {
  int extension = 0;  ///< 1 is the first after the primary array
  std::string name;   ///< EXTNAME; may be empty
};

/// Returns the name of a table in errors: "1 (STARS)", or "1" without a name.
[[nodiscard]] std::string describe(const FitsTableEntry& table);

/// Returns every table of the file. Leaves the last extension open. Throws InputError if there is no table.
[[nodiscard]] std::vector<FitsTableEntry> list_tables(fitsfile* file, const Source& source);

/// Returns the first of `tables` whose number or name (upper or lower case) is ReadOptions::table, or the first of all
/// if the option is empty. Throws InputError that lists the tables if none matches.
[[nodiscard]] const FitsTableEntry& select_table(std::span<const FitsTableEntry> tables, const Source& source);

/// Makes the table the open one, to which cfitsio's calls refer from now on. Throws InputError.
void open_table(fitsfile* file, const FitsTableEntry& table, const Source& source);

/// Throws InputError if the file, of `size` bytes, ends before the rows of the open table do. Call it before allocating
/// memory.
void require_table_bytes(fitsfile* file, std::uint64_t size, const Source& source);
/// Throws InputError unless the heap of the open table begins between the end of its rows and the end of its last
/// block, and the file reaches into this block, which may be incomplete. The heap has the values of columns of variable
/// length. Needed only if the caller copies the heap. Call it after require_table_bytes().
void require_heap_bytes(fitsfile* file, std::uint64_t size, const Source& source);

}  // namespace epsflow::io
