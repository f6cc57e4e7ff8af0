// The file formats that a build knows: some need a library of their own and may be left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsflow::io {

struct FormatInfo {
  std::string_view name;
  bool usable = true;
  std::string detail;  ///< the library behind it with its version, or the build option that enables it; may be empty
};

/// Every format that epsflow can read or write, whether this build does or not.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Throws UsageError where this build leaves the format out. Call it before long work whose result is to be written in that
/// format.
void require_format(std::string_view name);

}  // namespace epsflow::io
