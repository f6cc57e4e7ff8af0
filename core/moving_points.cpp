#include <epsflow/core/moving_points.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

void require_finite(std::span<const double> values, const char* what, std::size_t per_row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(std::string(what) + " " + std::to_string(i / per_row) + " is " +
                     (std::isnan(values[i]) ? "NaN" : "infinite") + ": give finite numbers");
  }
}

double largest(std::span<const double> values) {
  double found = 0;
  for (const double value : values) found = std::max(found, std::abs(value));
  return found;
}

/// Of the coordinates that are finite: of others the load says where they are.
double largest(PointsView points) {
  return points.visit([](auto values) {
    double found = 0;
    for (const auto value : values) {
      if (std::isfinite(value)) found = std::max(found, std::abs(static_cast<double>(value)));
    }
    return found;
  });
}

}  // namespace

void check_moving(const MovingPoints& moving) {
  if (moving.times.size() != moving.points.size()) {
    throw UsageError("there are " + format_count(moving.points.size(), "point") + " and " +
                     format_count(moving.times.size(), "time") + ": give one for each");
  }
  if (moving.velocities.size() % moving.dims() != 0) {
    throw UsageError("velocities have as many components as points have coordinates, " + std::to_string(moving.dims()) +
                     ", and there are " + format_count(moving.velocities.size(), "number"));
  }
  require_finite(moving.times, "time", 1);
  require_finite(moving.velocities, "velocity", moving.dims());
  if (!std::isfinite(largest(moving.points) + largest(moving.times) * largest(moving.velocities))) {
    throw InputError("the largest time times the largest velocity takes points beyond float64: give smaller units");
  }
}

std::vector<std::uint64_t> slice_offsets(const MovingPoints& moving) {
  std::vector<std::uint64_t> offsets(moving.count() + 1);
  for (std::size_t v = 0; v < offsets.size(); ++v) offsets[v] = v * std::uint64_t{moving.points.size()};
  return offsets;
}

void move_slice(const MovingPoints& moving, std::size_t slice, std::span<double> out) noexcept {
  const std::size_t dims = moving.dims();
  const std::span<const double> velocity = moving.velocities.subspan(slice * dims, dims);
  moving.points.visit([&](auto values) {
    for (std::size_t i = 0; i < moving.times.size(); ++i) {
      for (std::size_t k = 0; k < dims; ++k) {
        out[i * dims + k] = static_cast<double>(values[i * dims + k]) - moving.times[i] * velocity[k];
      }
    }
  });
}

}  // namespace epsflow
