// One variant of a sweep on disk.
#pragma once

#include <map>

#include <epsflow/core/labels.hpp>

namespace epsflow::io {

struct SweepEntry {
  Variant variant;
  LabelSummary summary;
  double seconds = 0;
  bool has_labels = true;  ///< not of a variant whose counts alone were kept
};

/// By eps, then minpts.
struct VariantOrder {
  bool operator()(const Variant& a, const Variant& b) const noexcept {
    return a.eps < b.eps || (a.eps == b.eps && a.minpts < b.minpts);
  }
};
using Entries = std::map<Variant, SweepEntry, VariantOrder>;

}  // namespace epsflow::io
