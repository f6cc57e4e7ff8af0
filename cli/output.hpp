// Prints results on standard output and messages on standard error. A failed print of a result throws; a failed print
// of a message is ignored.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::cli {

/// Call it before the program opens any file. Opens /dev/null for each standard stream that is closed, so that no
/// result file gets the descriptor of the stream. Ignores SIGPIPE and SIGXFSZ: a write to a closed pipe, or beyond the
/// limit of a file's size, then fails with an error instead of ending the program.
void prepare_streams();

/// Prints on standard output. Throws io::ReaderGone if the reader of a pipe has closed it, ResourceError for other
/// errors. Output is buffered, so some errors appear only in flush_output().
void print_text(std::string_view text);
/// Formats a text and prints it as print_text().
template <class... Values>
void print_result(fmt::format_string<Values...> format, Values&&... values) {
  print_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Prints a table on standard output. Each column is as wide as its widest cell, and right-aligned. rows: at least one;
/// no row has more cells than the first. Throws as print_text().
void print_columns(const std::vector<std::vector<std::string>>& rows);

/// Flushes standard output. Throws as print_text().
void flush_output();

/// Returns the text that say() prints for a message, without "epsflow: " and the line end.
[[nodiscard]] std::string shown_message(std::string_view message);

/// Makes say() print nothing from now on. If several MPI processes run a command, only the first one prints.
void be_silent() noexcept;

/// Prints "epsflow: " and the message on standard error. C++ names of options in the message become the options of the
/// command line (in_program_words()). Control characters, which file names may contain, are printed as their codes,
/// except line ends.
void say(std::string_view message) noexcept;

/// Returns an error with a formatted text.
template <class... Values>
[[nodiscard]] UsageError usage_error(fmt::format_string<Values...> format, Values&&... values) {
  return UsageError(fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
[[nodiscard]] InputError input_error(fmt::format_string<Values...> format, Values&&... values) {
  return InputError(fmt::format(format, std::forward<Values>(values)...));
}

/// The choice of the texts that a command prints.
struct Messages {
  bool json = false;   ///< prints the result as JSON
  bool quiet = false;  ///< prints only errors and JSON

  /// Prints a message unless --quiet is given.
  template <class... Values>
  void tell(fmt::format_string<Values...> format, Values&&... values) const {
    if (!quiet) say(fmt::format(format, std::forward<Values>(values)...));
  }
  /// Returns a function that prints the notices of the library; null with --quiet.
  [[nodiscard]] std::function<void(const std::string&)> notices() const {
    if (quiet) return nullptr;
    return [](const std::string& text) { say(text); };
  }
};

}  // namespace epsflow::cli
