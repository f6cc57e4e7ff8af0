#include <epsflow/parts/transformed_points.hpp>

#include <cstddef>
#include <vector>

namespace epsflow::parts {

TransformedPoints::TransformedPoints(PointsView points, const Metric& metric,
                                     const std::function<void(std::span<double>)>& max)
    : view_(points), fit_(metric) {
  double moves[] = {all_identity(metric, points) ? 0.0 : 1.0};
  max(moves);
  const Space space = transformed_space(metric);
  bool closed = false;
  for (std::size_t k = 0; k < space.axes.size(); ++k) closed = closed || space.period(k) != 0;
  if (moves[0] == 0 && !(closed && points.precision() == Precision::float32)) return;
  buffer_ = Points(points.size(), transformed_dims(metric, points.dims()), Precision::float64);
  view_ = buffer_.view();
  transform_all(metric, points, buffer_.values<double>().data(), moves[0] == 0 ? nullptr : &fit_);
  if (metric.box.empty() || moves[0] == 0) return;
  std::vector<double> most = fit_.maxima();
  max(most);
  fit_.set_maxima(most);
  fit_.require_fit();
}

}  // namespace epsflow::parts
