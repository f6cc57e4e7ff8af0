// Arrays and lists of Python, and their conversion to the types of the library.
#pragma once

#include <functional>
#include <ranges>

#include "common.hpp"

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::python {

/// [n] taken from NumPy: contiguous, in host memory, not written to.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// [n, d] taken from NumPy, float32 or float64. The type is not checked here: Python's modules pass no other type.
using HostArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
[[nodiscard]] std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

/// [n] returned to NumPy, without a copy.
template <class T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// Returns an array over `size` values from `data` on. The array keeps `owner` alive, which must own this memory.
template <class T>
[[nodiscard]] Column<T> column(T* data, std::size_t size, nb::handle owner) {
  return Column<T>(data, {size}, owner);
}

/// Returns a getter for a property of Object: an array over the values that `get`, a member or a function of the
/// object, returns: a reference to a vector, or a span. The array keeps the object alive.
template <class Object, class Get>
[[nodiscard]] auto column_in(Get get) {
  using Values = std::invoke_result_t<Get, Object&>;
  static_assert(std::is_lvalue_reference_v<Values> || std::ranges::borrowed_range<Values>);
  return [get](nb::handle_t<Object> self) {
    auto&& values = std::invoke(get, nb::cast<Object&>(self));
    return column(values.data(), values.size(), self);
  };
}

/// Returns a tuple for an array on a GPU, or None if the array is empty: a DLPack capsule of elements of type As, which
/// keeps `owner` alive; the address; the number of elements; and the number of the GPU. `owner` must own the memory.
template <class As, class T>
[[nodiscard]] nb::object gpu_column(const DeviceArray<T>& array, nb::handle owner) {
  static_assert(sizeof(As) == sizeof(T));
  using CudaArray = nb::ndarray<As, nb::ndim<1>, nb::device::cuda>;
  if (array.empty()) return nb::none();
  const CudaArray made(static_cast<void*>(array.data()), {array.size()}, owner, {}, nb::dtype<As>(),
                       nb::device::cuda::value, array.device());
  return nb::make_tuple(made, reinterpret_cast<std::uintptr_t>(array.data()),
                        array.size(),  // NOLINT: Python takes integers
                        array.device());
}

/// Returns a getter for a property of Object as column_in(): the tuple or None that gpu_column() returns.
template <class As, class Object, class Get>
[[nodiscard]] auto gpu_column_in(Get get) {
  return [get](nb::handle_t<Object> self) { return gpu_column<As>(std::invoke(get, nb::cast<Object&>(self)), self); };
}

/// Returns the address of the values of a vector, a Buffer or Labels, and an object of Python that owns them.
template <class Values>
[[nodiscard]] auto with_owner(Values values) {
  auto held = std::make_unique<Values>(std::move(values));
  auto* const data = held->data();
  return std::pair(data, nb::capsule(held.release(), [](void* all) noexcept { delete static_cast<Values*>(all); }));
}

/// Returns an array over values, as with_owner() takes them, that owns them.
template <class Values>
[[nodiscard]] auto column_of(Values values) {
  const std::size_t size = values.size();
  const auto [data, owner] = with_owner(std::move(values));
  return column(data, size, owner);
}

/// Converts values, as with_owner() takes them, to an array of Python.
inline constexpr auto kAsColumn = []<class Values>(Values&& values) {
  return nb::cast(column_of(std::forward<Values>(values)));
};

/// Returns a copy of one field of all rows, converted to To.
template <class To, class Rows, class Row, class Field>
[[nodiscard]] Column<To> column_from(const Rows& rows, Field Row::*field) {
  std::vector<To> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<To>(row.*field));
  return column_of(std::move(values));
}

/// Returns a tuple of copies of fields of all rows: float64 for floating-point numbers, else int64.
template <class Rows, class Row, class... Fields>
[[nodiscard]] nb::tuple columns_from(const Rows& rows, Fields Row::*... fields) {
  return nb::make_tuple(
      column_from<std::conditional_t<std::is_floating_point_v<Fields>, double, std::int64_t>>(rows, fields)...);
}

/// Calls f with the values of an array as std::span<const float> or std::span<const double>.
template <class F>
decltype(auto) visit_values(const HostArray& array, F&& f) {
  const std::size_t values = array.shape(0) * array.shape(1);
  if (array.dtype() == nb::dtype<float>()) return f(std::span(static_cast<const float*>(array.data()), values));
  return f(std::span(static_cast<const double*>(array.data()), values));
}

[[nodiscard]] inline PointsView view_of(const HostArray& array) {
  return visit_values(array, [&](auto values) { return PointsView(values, array.shape(1)); });
}

/// [n] a value for each point, or nothing.
template <class T>
using Maybe = std::optional<Vector<T>>;

template <class T>
[[nodiscard]] std::span<const T> span_of(const Maybe<T>& array) {
  return array ? span_of(*array) : std::span<const T>();
}

/// The weight of each point, or nothing.
using Weights = Maybe<double>;

/// (eps, min_samples) of each variant.
using Variants = std::vector<std::pair<double, std::uint32_t>>;

[[nodiscard]] inline Sweep sweep_of(const Variants& variants) {
  std::vector<Variant> all;
  for (const auto& [eps, minpts] : variants) all.push_back({eps, minpts});
  return Sweep(all);
}

}  // namespace epsflow::python
