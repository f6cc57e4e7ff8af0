#include <cmath>
#include <span>
#include <vector>

#include <epsflow/gpu/base/error.hpp>

#include "bench_direct_points.hpp"
#include "made_haloes.hpp"

namespace epsflow::bench {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void uniform_kernel(T* values, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) values[i] = static_cast<T>(random_number(kFirst + i));
}

__global__ void lattice_kernel(float* values, std::uint64_t count, std::uint64_t side) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t steps[] = {i / side / side, i / side % side, i % side};
  for (unsigned k = 0; k < 3; ++k) values[3 * i + k] = static_cast<float>(steps[k] + steps[k] / 100);
}

__global__ void haloes_kernel(float* values, std::uint64_t count, double side, const Halo* haloes,
                              std::uint64_t halo_count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) point_of_haloes(i, side, haloes, halo_count, values + 3 * i);
}

unsigned blocks_of(std::uint64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

}  // namespace

std::optional<Shape> shape_of(std::string_view option) {
  if (option == "--uniform") return Shape::uniform;
  if (option == "--uniform32") return Shape::uniform32;
  if (option == "--lattice") return Shape::lattice;
  if (option == "--haloes") return Shape::haloes;
  return std::nullopt;
}

std::uint64_t bytes_of(const MadePoints& points) {
  return points.size * (points.shape == Shape::uniform ? 16 : points.shape == Shape::uniform32 ? 8 : 12);
}

DevicePointsView make_points(const MadePoints& points, std::byte* to, gpu::DeviceMemory& memory,
                             const gpu::Stream& stream) {
  const std::uint64_t n = points.size;
  auto* const singles = reinterpret_cast<float*>(to);
  auto* const doubles = reinterpret_cast<double*>(to);
  gpu::DeviceBuffer<Halo> haloes;
  switch (points.shape) {
    case Shape::uniform:
      uniform_kernel<<<blocks_of(2 * n), kThreads, 0, stream.get()>>>(doubles, 2 * n);
      break;
    case Shape::uniform32:
      uniform_kernel<<<blocks_of(2 * n), kThreads, 0, stream.get()>>>(singles, 2 * n);
      break;
    case Shape::lattice: {
      const auto side = static_cast<std::uint64_t>(std::llround(std::cbrt(static_cast<double>(n))));
      lattice_kernel<<<blocks_of(n), kThreads, 0, stream.get()>>>(singles, n, side);
      break;
    }
    case Shape::haloes: {
      const double side = side_of_haloes(n);
      const std::vector<Halo> made = make_haloes(n, side);
      haloes = gpu::copy_of(std::span<const Halo>(made), memory, stream.get());
      haloes_kernel<<<blocks_of(n), kThreads, 0, stream.get()>>>(singles, n, side, haloes.data(), haloes.size());
      break;
    }
  }
  gpu::check_launch(stream.get());
  stream.synchronize();
  if (points.shape == Shape::uniform) return {doubles, n, 2};
  return {singles, n, points.shape == Shape::uniform32 ? 2U : 3U};
}

}  // namespace epsflow::bench
