// One variant of a sweep on disk.
#pragma once

#include <cstdint>
#include <optional>

#include <epsflow/core/labels.hpp>

namespace epsflow::io {

struct SweepEntry {
  Variant variant;
  LabelSummary summary;
  double seconds = 0;
  std::optional<std::uint32_t> crc32 = {};  ///< of the label file; older folders have none
};

}  // namespace epsflow::io
