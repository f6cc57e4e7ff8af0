#include <epsflow/catalog/friends.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow {

double mean_separation(const Metric& metric, std::size_t dims, std::uint64_t n) {
  const bool closed = metric.box.size() == dims && std::ranges::all_of(metric.box, &BoxSide::closed);
  if (!closed) {
    throw UsageError(
        "the mean separation of points, of which b is a fraction, is that of points which fill a periodic box: give "
        "Metric::box "
        "with every side closed, or the linking length itself");
  }
  if (n == 0) throw UsageError("there are no points, and so no mean separation: give the linking length itself");
  const double root = 1 / static_cast<double>(dims);
  const auto points = static_cast<double>(n);
  double volume = 1;
  double length = std::pow(1 / points, root);  // the product of roots, used if the volume overflows or underflows
  bool held = true;
  for (std::size_t k = 0; k < dims; ++k) {
    const double side = (metric.box[k].hi - metric.box[k].lo) * (metric.scale.empty() ? 1 : metric.scale[k]);
    volume *= side;
    length *= std::pow(side, root);
    held = held && std::isnormal(volume);
  }
  return held ? std::pow(volume / points, root) : length;
}

void resolve_groups(VariantResult& result, std::uint64_t least, GroupOrder order) {
  std::vector<std::uint64_t> sizes(result.summary.clusters);
  for (const std::int32_t label : result.labels) {
    if (label != kNoise) ++sizes[static_cast<std::size_t>(label)];
  }
  // Clusters are numbered by their smallest core point, and with these minpts every point of a cluster is core.
  std::vector<std::uint32_t> groups(sizes.size());
  std::iota(groups.begin(), groups.end(), 0U);
  std::erase_if(groups, [&](std::uint32_t c) { return sizes[c] < least; });
  if (order == GroupOrder::size) {
    std::ranges::stable_sort(groups, [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
  }
  std::vector<std::int32_t> numbers(sizes.size(), kNoise);
  LabelSummary summary{.clusters = groups.size(), .noise = result.labels.size()};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    numbers[groups[g]] = static_cast<std::int32_t>(g);
    summary.core += sizes[groups[g]];
    summary.largest = std::max(summary.largest, sizes[groups[g]]);
  }
  summary.noise -= summary.core;
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    std::int32_t& label = result.labels[i];
    if (label != kNoise) label = numbers[static_cast<std::size_t>(label)];
    if (!result.core.empty()) result.core[i] = label == kNoise ? 0 : 1;
  }
  result.summary = summary;
}

void translate_groups(std::span<std::int32_t> labels, GroupDialect dialect) noexcept {
  if (dialect == GroupDialect::epsflow) return;
  const std::int32_t none = dialect == GroupDialect::swift ? std::numeric_limits<std::int32_t>::max() : 0;
  for (std::int32_t& label : labels) label = label == kNoise ? none : label + 1;
}

}  // namespace epsflow
