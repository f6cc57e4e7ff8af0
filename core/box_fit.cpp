#include <epsflow/core/box_fit.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

/// A length is large against a grain if it has at least this many grains.
constexpr double kLarge = 0x1p20;
/// If a box fits, the grain has at most this many units in the last place of the largest coordinate. It has 4 if points
/// reach the ends of a box that begins or ends at 0.
constexpr double kFittingUnits = 0x1p10;
/// Rows that a thread transforms at a time.
constexpr std::size_t kTransformedRows = 1 << 13;

double unit_in_last_place(double x) { return std::ldexp(1.0, std::max(std::ilogb(x) - 52, -1074)); }

std::string shown_side(const Metric& metric, std::size_t k, double grain) {
  const BoxSide& side = metric.box[k];
  return "Metric::box has a side from " + format_number(side.lo) + " to " + format_number(side.hi) + " in column " +
         format_count(k) + ", where coordinates are rounded to multiples of " + format_number(grain) +
         (metric.scale.empty() ? "," : ", once scaled,");
}

constexpr const char* kRemedy = ": give a side that fits the points, or leave it open";

}  // namespace

void BoxFit::add(PointsView points, std::size_t first, std::size_t last) {
  if (metric_.box.empty() || first == last) return;
  axes_.resize(points.dims());
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    const double factor = metric_.scale.empty() ? 1 : metric_.scale[k];
    const double grain = box_grain(metric_, k);
    AxisRange axis = axes_[k];
    for (std::size_t row = first; row < last; ++row) {
      const double x = points.at(row, k) * factor;
      axis.least = std::min(axis.least, x);
      axis.most = std::max(axis.most, x);
      if (grain > 0 && !axis.is_rounded) axis.is_rounded = std::nearbyint(x / grain) * grain != x;
    }
    axes_[k] = axis;
  }
}

void BoxFit::add(const BoxFit& other) {
  if (other.axes_.empty()) return;
  axes_.resize(other.axes_.size());
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    axes_[k].least = std::min(axes_[k].least, other.axes_[k].least);
    axes_[k].most = std::max(axes_[k].most, other.axes_[k].most);
    axes_[k].is_rounded = axes_[k].is_rounded || other.axes_[k].is_rounded;
  }
}

std::vector<double> BoxFit::maxima() const {
  std::vector<double> maxima;
  for (std::size_t k = 0; k < metric_.box.size(); ++k) {
    const AxisRange axis = axes_.empty() ? AxisRange{} : axes_[k];
    maxima.insert(maxima.end(), {-axis.least, axis.most, axis.is_rounded ? 1.0 : 0.0});
  }
  return maxima;
}

void BoxFit::set_maxima(const std::vector<double>& maxima) {
  axes_.clear();
  for (std::size_t k = 0; 3 * k < maxima.size(); ++k) {
    axes_.push_back({-maxima[3 * k], maxima[3 * k + 1], maxima[3 * k + 2] > 0});
  }
}

std::size_t BoxFit::coarsest() const {
  std::size_t found = axes_.size();
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    const AxisRange& axis = axes_[k];
    // A coordinate that is equal for all points stays so.
    if (!axis.is_rounded || axis.least == axis.most) continue;
    const double largest = std::max(std::abs(axis.least), std::abs(axis.most));
    const double grain = box_grain(metric_, k);
    if (grain <= kFittingUnits * unit_in_last_place(largest)) continue;
    if (found == axes_.size() || grain > box_grain(metric_, found)) found = k;
  }
  return found;
}

void BoxFit::require_fit() const {
  const std::size_t k = coarsest();
  if (k == axes_.size()) return;
  const double grain = box_grain(metric_, k);
  double extent = 0;
  for (const AxisRange& axis : axes_) extent = std::max(extent, axis.most - axis.least);
  if (extent >= kLarge * grain) return;
  throw InputError(shown_side(metric_, k, grain) + " and all points lie within " + format_number(extent) + kRemedy);
}

void BoxFit::require_fit(double eps) const {
  const std::size_t k = coarsest();
  if (k == axes_.size()) return;
  const double grain = box_grain(metric_, k);
  if (eps >= kLarge * grain) return;
  throw UsageError(shown_side(metric_, k, grain) + " which is too coarse for eps " + format_number(eps) + kRemedy);
}

bool all_identity(const Metric& metric, PointsView points) {
  std::atomic<bool> all = true;
  parallel_ranges(points.size(), kTransformedRows, [&](std::size_t begin, std::size_t end) {
    if (all && !is_identity(metric, points, begin, end)) all = false;
  });
  return all;
}

void transform_all(const Metric& metric, PointsView points, double* out, BoxFit* fit) {
  const std::size_t width = transformed_dims(metric, points.dims());
  std::mutex mutex;
  parallel_ranges(points.size(), kTransformedRows, [&](std::size_t begin, std::size_t end) {
    transform_points(metric, points, begin, end, out + begin * width);
    if (fit == nullptr || metric.box.empty()) return;
    BoxFit part(metric);
    part.add(points, begin, end);
    const std::scoped_lock lock(mutex);
    fit->add(part);
  });
}

}  // namespace epsflow
