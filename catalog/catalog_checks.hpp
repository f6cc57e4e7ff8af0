// The checks of the input of catalogues, shared by all backends.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

/// Throws UsageError unless length is n, the number of points. what: the plural name of the entries, for the message.
inline void require_length(std::size_t n, std::size_t length, const std::string& what) {
  if (length == n) return;
  throw UsageError("there are " + format_count(n, "point") + " and " + std::to_string(length) + " " + what +
                   ": give one for each");
}

/// Throws UsageError if labels, core, weights or a column of `input` do not have n entries.
template <class Input>
void require_lengths(const Input& input, std::size_t n) {
  require_length(n, input.labels.size(), "labels");
  if (!input.core.empty()) require_length(n, input.core.size(), "entries of the mask of core points");
  for (const NamedColumn& column : input.columns) require_length(n, column.values.size(), "values of " + column.name);
  if (!input.weights.empty()) require_length(n, input.weights.size(), "weights");
}

/// Returns true for a valid weight: finite and at least 0.
[[nodiscard]] inline bool weighs(double weight) noexcept { return weight >= 0 && std::isfinite(weight); }

[[noreturn]] inline void throw_bad_label(std::uint64_t i, std::int32_t label) {
  throw InputError("point " + std::to_string(i) + " has the label " + std::to_string(label) +
                   ": labels are −1 for noise, or the number of a cluster");
}

[[noreturn]] inline void throw_bad_weight(std::uint64_t i, double weight) {
  throw InputError("point " + std::to_string(i) + " has the weight " + format_number(weight) +
                   ": a catalogue is weighted by finite numbers of 0 and more, such as masses");
}

/// Throws InputError if points of a cluster are so far apart that their difference exceeds float64.
inline void require_differences(const Catalog& made) {
  for (std::size_t i = 0; i < made.lower.size(); ++i) {
    if (made.upper[i] - made.lower[i] != std::numeric_limits<double>::infinity()) continue;
    throw InputError("cluster " + std::to_string(made.cluster[i / made.dims]) + " goes from " +
                     format_number(made.lower[i]) + " to " + format_number(made.upper[i]) + " in column " +
                     std::to_string(i % made.dims) +
                     ", and float64 does not hold the difference: divide all coordinates by one factor");
  }
}

}  // namespace epsflow
