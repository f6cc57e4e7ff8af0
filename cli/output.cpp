#include <epsflow/cli/output.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <epsflow/cli/options.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::cli {
namespace {

[[noreturn]] void throw_unprinted(int error) {
  if (error == EPIPE) throw io::ReaderGone();
  throw ResourceError(std::string("cannot print the result on standard output: ") + std::strerror(error));
}

bool silent = false;

/// Returns `text` with control characters as \xNN, except line ends.
std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const bool is_control = (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
    shown += is_control ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return shown;
}

}  // namespace

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this stream. Printing still fails, as it is read-only.
    const int opened = open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    static_cast<void>(opened);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_unprinted(errno);
}

void print_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{}{:>{}}", c > 0 ? "  " : "", row[c], widths[c]);
    print_result("{}\n", line);
  }
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw_unprinted(errno);
}

std::string shown_message(std::string_view message) { return printable(in_program_words(message)); }

void be_silent() noexcept { silent = true; }

void say(std::string_view message) noexcept {
  if (silent) return;
  try {
    const std::string line = "epsflow: " + shown_message(message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory left for a message that may be lost
  }
}

}  // namespace epsflow::cli
