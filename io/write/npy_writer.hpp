// Writes NPY: labels, masks, row numbers and points.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <epsflow/core/points.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// An array in NPY 1.0. The bytes of the file are `header`, then `data`, which is a view.
struct NpyArray {
  std::string header;
  std::span<const std::byte> data;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return header.size() + data.size(); }
};

/// Returns the header of a vector of n values. `type` is in NPY's notation: "<i4".
[[nodiscard]] std::string npy_vector_header(const std::string& type, std::uint64_t n);

/// Returns labels [n] as little-endian int32, one dimension.
[[nodiscard]] NpyArray npy_labels(std::span<const std::int32_t> labels);
/// Returns a mask [n] of 0 and 1 as bool, one dimension.
[[nodiscard]] NpyArray npy_mask(std::span<const std::uint8_t> mask);
/// Returns row numbers [n] as little-endian int64, one dimension.
[[nodiscard]] NpyArray npy_rows(std::span<const std::int64_t> rows);
/// Returns numbers [n] as little-endian float64, one dimension.
[[nodiscard]] NpyArray npy_numbers(std::span<const double> numbers);
/// Returns row numbers, or numbers of groups, in a file that is_marked_npy() recognises. The mark is the order of the
/// keys in the header: it is not the order of NumPy, and readers of NPY accept any order.
[[nodiscard]] NpyArray marked_npy(std::span<const std::int64_t> rows);
[[nodiscard]] NpyArray marked_npy(std::span<const std::int32_t> groups);
/// Returns true if a file begins as marked_npy() does, and false if it cannot be read.
[[nodiscard]] bool is_marked_npy(const std::filesystem::path& file);
/// Returns points [n × d] as little-endian float32 or float64, in C order.
[[nodiscard]] NpyArray npy_points(PointsView points);

/// Writes the array. Atomic. Errors as write_text_file().
void write_npy(const std::filesystem::path& file, const NpyArray& array, Overwrite overwrite);

}  // namespace epsflow::io
