#include <epsflow/catalog/metric_arrays.hpp>

#include <epsflow/catalog/sphere.hpp>

namespace epsflow {

MetricArrays::MetricArrays(const Metric& given, std::size_t d) : dims(d) {
  const Metric metric = canonical(given);
  const Space space = transformed_space(metric);
  norm = space.norm;
  power = space.power;
  cosine = metric.kind == MetricKind::cosine;
  closed = !metric.box.empty();
  scaled = !metric.scale.empty();
  if (closed) {
    for (const BoxSide& side : metric.box) values.push_back(side.lo);
    for (const BoxSide& side : metric.box) values.push_back(side.hi);
  }
  values.insert(values.end(), metric.scale.begin(), metric.scale.end());
  sky.unit = radians_of_coordinates(metric);
  sky.arc = in_radians(metric.kind) ? 1 : radians_of(metric.unit);
  sky.longitude = latitude_comes_first(metric) ? 1 : 0;
  sky.latitude = 1 - sky.longitude;
}

}  // namespace epsflow
