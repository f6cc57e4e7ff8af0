// Reads numbers of JSON that epsflow has written. A JSON library converts any number to the requested type: it cuts off
// fractions, turns negative numbers into large counts, and has undefined behaviour for numbers out of range. So only
// these functions read numbers. They are templates over the type of a JSON value (nlohmann::json, ordered_json): core/
// has no JSON library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow {

/// The largest count that is read. Each whole number up to it has a float64 of its own.
inline constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 53) - 1;

/// Reads the numbers of one JSON object. Members throw InputError for an entry that is missing or invalid; the text
/// names the entry and the value, as in "results[3].noise is 2.5, not a whole number from 0 to 9007199254740991".
template <class Json>
class JsonNumbers {
 public:
  /// object: must outlive this. path: its position in the document, "results[3]"; empty for the document itself. Throws
  /// InputError for a value that is not an object.
  JsonNumbers(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object()) fail(path_.empty() ? "all of it" : path_, object_, "an object");
  }

  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }

  /// Returns a whole number from `least` to `most`. Other programs may have written it as 1e3 or 1000.0.
  [[nodiscard]] std::uint64_t count(const char* name, std::uint64_t least = 0, std::uint64_t most = kMostCount) const {
    return whole(value_of(name), path_of(name), least, most);
  }

  /// Returns a list of whole numbers from 0 to kMostCount.
  [[nodiscard]] std::vector<std::uint64_t> counts(const char* name) const {
    const Json& list = value_of(name);
    if (!list.is_array()) fail(path_of(name), list, "a list");
    std::vector<std::uint64_t> all;
    for (const Json& value : list) {
      all.push_back(whole(value, path_of(name) + "[" + std::to_string(all.size()) + "]", 0, kMostCount));
    }
    return all;
  }

  /// Returns a finite number of at least 0.
  [[nodiscard]] double real(const char* name) const {
    const Json& value = value_of(name);
    const double number = value.is_number() ? value.template get<double>() : -1;
    if (!(number >= 0) || !std::isfinite(number)) fail(path_of(name), value, "a finite number from 0 on");
    return number;
  }

  /// Returns the minpts and min_cluster_size of the object, with eps 0. Without a min_cluster_size, returns its eps,
  /// which must be above 0, and minpts.
  [[nodiscard]] Variant variant() const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto minpts = static_cast<std::uint32_t>(count("minpts", 1, kMost));
    if (has("min_cluster_size")) return {0, minpts, static_cast<std::uint32_t>(count("min_cluster_size", 2, kMost))};
    const double eps = real("eps");
    if (eps == 0) fail(path_of("eps"), value_of("eps"), "a finite number above 0");
    return {eps, minpts};
  }

  /// Returns its clusters, noise, core, border and largest. If it has a min_cluster_size, `clustered` is returned as
  /// core, and border is 0. points: the number of points, if it is known. Throws InputError also for counts that
  /// misfit_of() rejects.
  [[nodiscard]] LabelSummary summary(std::optional<std::uint64_t> points = std::nullopt) const;

 private:
  [[noreturn]] static void fail(const std::string& path, const Json& value, const std::string& wanted) {
    const std::string found = value.is_number() ? value.dump() : "of type " + std::string(value.type_name());
    throw InputError(path + " is " + found + ", not " + wanted);
  }

  static std::uint64_t whole(const Json& value, const std::string& path, std::uint64_t least, std::uint64_t most) {
    const double number = value.is_number() ? value.template get<double>() : -1;
    const bool in_range = number >= static_cast<double>(least) && number <= static_cast<double>(most);
    if (in_range && number == std::floor(number)) return static_cast<std::uint64_t>(number);
    fail(path, value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }

  [[nodiscard]] std::string path_of(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  [[nodiscard]] const Json& value_of(const char* name) const {
    const auto at = object_.find(name);
    if (at == object_.end()) throw InputError(path_of(name) + " is missing");
    return *at;
  }

  const Json& object_;
  std::string path_;
};

/// Returns the reason why counts are not possible for a clustering, or an empty text: each point is core, border or
/// noise, and each cluster has a core point. points: their number, if it is known. The counts are at most kMostCount.
inline std::string misfit_of(const LabelSummary& s, std::optional<std::uint64_t> points) {
  const std::uint64_t clustered = s.core + s.border;
  if (points && s.noise + clustered != *points) {
    return "noise, core and border points are " + std::to_string(s.noise + clustered) + " together, and there are " +
           std::to_string(*points) + " points";
  }
  const auto of_no_clusters = [&] { return clustered == 0 && s.largest == 0; };
  // The largest cluster has no fewer points than the mean, and leaves a point for each of the others.
  const auto of_clusters = [&] {
    return s.clusters <= s.core && (clustered - 1) / s.clusters < s.largest &&
           s.largest <= clustered - (s.clusters - 1);
  };
  if (s.clusters == 0 ? of_no_clusters() : of_clusters()) return {};
  return std::to_string(s.clusters) + " clusters, the largest of " + std::to_string(s.largest) +
         " points, cannot have " + std::to_string(s.core) + " core and " + std::to_string(s.border) + " border points";
}

template <class Json>
LabelSummary JsonNumbers<Json>::summary(std::optional<std::uint64_t> points) const {
  LabelSummary summary{.clusters = count("clusters"), .noise = count("noise"), .largest = count("largest")};
  const bool selected = has("min_cluster_size");
  summary.core = count(selected ? "clustered" : "core");
  if (!selected) summary.border = count("border");
  const std::string misfit = misfit_of(summary, points);
  if (!misfit.empty()) throw InputError(path_ + ": " + misfit);
  return summary;
}

/// Returns an object with the parameters of a variant and its counts, as JsonNumbers reads them. Files, --json and the
/// page of a report have the same entries in the same order.
template <class Json>
[[nodiscard]] Json counts_as_json(const Variant& variant, const LabelSummary& summary) {
  if (variant.min_cluster_size > 0) {
    return {{"minpts", variant.minpts},     {"min_cluster_size", variant.min_cluster_size},
            {"clusters", summary.clusters}, {"noise", summary.noise},
            {"clustered", summary.core},    {"largest", summary.largest}};
  }
  return {{"eps", variant.eps},   {"minpts", variant.minpts}, {"clusters", summary.clusters}, {"noise", summary.noise},
          {"core", summary.core}, {"border", summary.border}, {"largest", summary.largest}};
}

}  // namespace epsflow
