// The program's two streams. Results go to standard output, and what cannot be printed there is an error; messages go
// to standard error, and what cannot be printed there is lost without harm.
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

/// To be called first. Gives standard streams that were closed a place to go, so that no file of a result takes their
/// number, and has writing to a pipe that nobody reads, or beyond the limit of a file's size, fail instead of ending
/// the program.
void prepare_streams();

/// Prints on standard output. Throws ResourceError, io::ReaderGone.
void print_text(std::string_view text);
template <class... Values>
void print_result(fmt::format_string<Values...> format, Values&&... values) {
  print_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Prints rows of cells in columns that are as wide as their widest cell, flushed right.
void print_columns(const std::vector<std::vector<std::string>>& rows);

/// Has everything that was printed written. Throws ResourceError, io::ReaderGone.
void flush_output();

/// Returns what say() makes of a message.
[[nodiscard]] std::string shown_message(std::string_view message);

/// From now on say() says nothing: another process speaks for this one.
void be_silent() noexcept;

/// Prints "epsflow: message" on standard error, in program words. Control characters, as a file's name may hold, are
/// shown by their codes.
void say(std::string_view message) noexcept;

/// Returns an error whose text is formatted.
template <class... Values>
[[nodiscard]] UsageError usage_error(fmt::format_string<Values...> format, Values&&... values) {
  return UsageError(fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
[[nodiscard]] InputError input_error(fmt::format_string<Values...> format, Values&&... values) {
  return InputError(fmt::format(format, std::forward<Values>(values)...));
}

/// What a command prints beside the files that it writes.
struct Messages {
  bool json = false;   ///< the result, as JSON
  bool quiet = false;  ///< nothing but errors and JSON

  /// Says a message unless --quiet is given.
  template <class... Values>
  void tell(fmt::format_string<Values...> format, Values&&... values) const {
    if (!quiet) say(fmt::format(format, std::forward<Values>(values)...));
  }
  /// Returns what prints the notices of the library; null with --quiet.
  [[nodiscard]] std::function<void(const std::string&)> notices() const {
    if (quiet) return nullptr;
    return [](const std::string& text) { say(text); };
  }
};

}  // namespace epsflow::cli
