#include <epsflow/cli/progress_report.hpp>

#include <unistd.h>

#include <cstdio>

#include <epsflow/cli/output.hpp>

namespace epsflow::cli {
namespace {

constexpr double kSecondsBetweenLines = 10;

double share_of(const Progress& p) { return static_cast<double>(p.variants_done) / static_cast<double>(p.variants); }

/// Returns the progress of the neighbour table of an eps; empty if no table is being made.
std::string table_of(const Progress& p, const char* before, const char* between) {
  if (p.table_eps <= 0) return "";
  return fmt::format("{}eps {}{}{:.0f} %", before, format_number(p.table_eps), between, p.table_share * 100);
}

std::string seconds_left(const Progress& p, const char* before) {
  if (!p.seconds_left && p.variants_done == 0) return "";
  return fmt::format("{}about {:.0f} s left", before,
                     p.seconds_left ? *p.seconds_left : p.seconds / share_of(p) * (1 - share_of(p)));
}

}  // namespace

ProgressReport::ProgressReport(bool wanted)
    : wanted_(wanted), terminal_(isatty(STDERR_FILENO) != 0), next_line_(kSecondsBetweenLines) {}

ProgressReport::~ProgressReport() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressReport::show(const Progress& p) {
  if (!wanted_ || p.variants == 0) return;
  if (terminal_) {
    draw_bar(p);
  } else if (p.seconds >= next_line_) {
    next_line_ = p.seconds + kSecondsBetweenLines;
    say(fmt::format("{} of {}{}{}", format_count(p.variants_done), format_count(p.variants, "variant"),
                    table_of(p, ", ", " at "), seconds_left(p, ", ")));
  }
}

void ProgressReport::draw_bar(const Progress& p) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share_of(p) * kWidth);
  const std::string line =
      fmt::format("\r\033[K[{:=<{}}{: <{}}] {}/{} variants{}{}", "", filled, "", kWidth - filled, p.variants_done,
                  p.variants, table_of(p, "  ", ": table "), seconds_left(p, "  "));
  std::fputs(line.c_str(), stderr);
  drawn_ = true;
}

}  // namespace epsflow::cli
