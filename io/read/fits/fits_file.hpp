// A FITS file open for reading, and the tables in it.
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

/// To be held around every use of cfitsio, which keeps global state.
[[nodiscard]] std::mutex& fits_mutex();

/// cfitsio's words for a status, and the first message that it left, which is the most specific. Empties its stack.
[[nodiscard]] std::string describe_fits(int status);

/// Every call that reads goes through here: what was being done, and the status it returned. Throws InputError with
/// cfitsio's reason.
void check_fits(int status, const Source& source, std::string_view doing);

struct CloseFits {
  void operator()(fitsfile* file) const noexcept {
    int status = 0;
    fits_close_file(file, &status);
  }
};
using FitsHandle = std::unique_ptr<fitsfile, CloseFits>;

/// Takes back the messages that cfitsio leaves on its stack, which it does even where it returns no error.
struct FitsMessageMark {
  FitsMessageMark() { fits_write_errmark(); }
  ~FitsMessageMark() { fits_clear_errmark(); }
  FitsMessageMark(const FitsMessageMark&) = delete;
  FitsMessageMark& operator=(const FitsMessageMark&) = delete;
};

/// A FITS file. Headers are looked at before cfitsio gets them, where it would trust what it should not: tables are copied in
/// the very process.
class FitsFile {
 public:
  /// Throws InputError for what is no FITS file or damaged.
  FitsFile(const LibraryFile& file, const Source& source);

  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Throws InputError where something else than an extension follows the table that is open: its header tells of fewer
  /// rows than there are.
  void require_end_of_table();

 private:
  /// Makes cfitsio know every extension, each after a look at its header.
  void visit_extensions();
  /// The block from there on, valid until the next call; nothing where the file ends before it does.
  std::optional<std::string_view> read_block(std::uint64_t at);

  FitsMessageMark mark_;
  const Source& source_;
  std::uint64_t size_;
  std::ifstream stream_;
  std::string block_;
  FitsHandle file_;
};

struct FitsTableEntry {
  int extension = 0;
  std::string name;
};

/// As errors name a table: "1 (STARS)".
[[nodiscard]] std::string describe(const FitsTableEntry& table);

/// Every table of the file. Throws InputError where there is none.
[[nodiscard]] std::vector<FitsTableEntry> list_tables(fitsfile* file, const Source& source);

/// The table that is asked for. Throws InputError listing those there are.
[[nodiscard]] const FitsTableEntry& select_table(std::span<const FitsTableEntry> tables, const Source& source);

void open_table(fitsfile* file, const FitsTableEntry& table, const Source& source);

/// Throws InputError where the file, of `size` bytes, is shorter than the table that is open: to be found out before room
/// for the table is made.
void require_table_bytes(fitsfile* file, std::uint64_t size, const Source& source);
/// The same for what lies behind its rows, for whoever copies that too. To be called behind require_table_bytes().
void require_heap_bytes(fitsfile* file, std::uint64_t size, const Source& source);

}  // namespace epsflow::io
