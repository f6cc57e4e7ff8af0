#include <epsflow/catalog/sphere.hpp>

#include <numbers>

namespace epsflow {

double radians_of_coordinates(const Metric& metric) noexcept {
  return in_radians(metric.kind) ? 1 : std::numbers::pi / 180;
}

}  // namespace epsflow
