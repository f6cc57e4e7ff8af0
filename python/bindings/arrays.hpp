// Arrays and lists of Python as the library takes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::python {

/// [n] of NumPy.
template <class T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A weight for each point, or none.
using Weights = std::optional<Vector<double>>;

/// [n, d] of NumPy, float32 or float64.
using HostArray = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
[[nodiscard]] std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

/// [n] for NumPy.
template <class T>
using Column = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

/// An array over memory that `owner` keeps.
template <class T>
[[nodiscard]] Column<T> column(T* data, std::size_t size, nanobind::handle owner) {
  return Column<T>(data, {size}, owner);
}

/// An object of Python that keeps values, and where they lie.
template <class T>
[[nodiscard]] std::pair<T*, nanobind::capsule> kept(std::vector<T>&& values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = held->data();
  return {data,
          nanobind::capsule(held.release(), [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); })};
}

template <class T>
[[nodiscard]] Column<T> column_of(std::vector<T>&& values) {
  const std::size_t size = values.size();
  const auto [data, owner] = kept(std::move(values));
  return column(data, size, owner);
}

/// Calls f with the values of an array as std::span<const float> or std::span<const double>.
template <class F>
decltype(auto) visit_values(const HostArray& array, F&& f) {
  const std::size_t values = array.shape(0) * array.shape(1);
  if (array.dtype() == nanobind::dtype<float>()) return f(std::span(static_cast<const float*>(array.data()), values));
  return f(std::span(static_cast<const double*>(array.data()), values));
}

[[nodiscard]] inline PointsView view_of(const HostArray& array) {
  return visit_values(array, [&](auto values) { return PointsView(values, array.shape(1)); });
}

/// (eps, min_samples) of each variant.
using Variants = std::vector<std::pair<double, std::uint32_t>>;

[[nodiscard]] inline Sweep sweep_of(const Variants& variants) {
  std::vector<Variant> all;
  for (const auto& [eps, minpts] : variants) all.push_back({eps, minpts});
  return Sweep(all);
}

}  // namespace epsflow::python
