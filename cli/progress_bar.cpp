#include <epsflow/cli/progress_bar.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::cli {

ProgressBar::ProgressBar(bool wanted) : on_(wanted && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(const Progress& p) {
  if (!on_ || p.variants == 0) return;
  constexpr int kWidth = 30;
  const double share = static_cast<double>(p.variants_done) / static_cast<double>(p.variants);
  const int filled = static_cast<int>(share * kWidth);
  const std::string eta =
      p.variants_done == 0 ? "" : fmt::format("  about {:.0f} s left", p.seconds / share * (1 - share));
  const std::string line =
      fmt::format("\r\033[K[{:=<{}}{: <{}}] {}/{} variants  eps {}: table {:.0f} %{}", "", filled, "", kWidth - filled,
                  p.variants_done, p.variants, format_number(p.table_eps), p.table_share * 100, eta);
  std::fputs(line.c_str(), stderr);
  drawn_ = true;
}

}  // namespace epsflow::cli
