// The file formats of epsflow. Some need a library of their own, and a build may leave these out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsflow::io {

struct FormatInfo {
  std::string_view name;
  bool usable = true;
  /// The library of the format with its version, or the build option that enables it; may be empty
  std::string detail;
};

/// Returns every format that epsflow can read or write, including those that this build leaves out.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Throws UsageError if this build leaves the format out. Call it before long work whose result needs the format. name:
/// as in FormatInfo. Accepts a name that is not in formats().
void require_format(std::string_view name);

}  // namespace epsflow::io
