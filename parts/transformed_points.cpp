#include <epsflow/parts/transformed_points.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

TransformedPoints::TransformedPoints(PointsView points, const Metric& metric,
                                     const std::function<void(std::span<double>)>& max)
    : view_(points), fit_(metric) {
  const auto for_rows = [&](RangeBody f) { parallel_ranges(points.size(), 1 << 14, f); };
  std::atomic<bool> all_stay = true;
  for_rows([&](std::size_t first, std::size_t last) {
    if (all_stay && !is_identity(metric, points, first, last)) all_stay = false;
  });
  double moves[] = {all_stay ? 0.0 : 1.0};
  max(moves);
  const Space space = transformed_space(metric);
  bool closed = false;
  for (std::size_t k = 0; k < space.axes.size(); ++k) closed = closed || space.period(k) != 0;
  if (moves[0] == 0 && !(closed && points.precision() == Precision::float32)) return;
  const std::size_t d = transformed_dims(metric, points.dims());
  buffer_ = Points(points.size(), d, Precision::float64);
  view_ = buffer_.view();
  std::mutex mutex;
  for_rows([&](std::size_t first, std::size_t last) {
    transform_points(metric, points, first, last, buffer_.values<double>().data() + first * d);
    if (metric.box.empty() || moves[0] == 0) return;
    BoxFit some(metric);
    some.add(points, first, last);
    const std::scoped_lock lock(mutex);
    fit_.add(some);
  });
  if (metric.box.empty() || moves[0] == 0) return;
  std::vector<double> most = fit_.maxima();
  max(most);
  fit_.set_maxima(most);
  fit_.require_fit();
}

}  // namespace epsflow::parts
