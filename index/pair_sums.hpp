// The sums by which points of an index with float64 coordinates are compared, one pair after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/index/distance.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Calls use(sum) once. sum(p, q) returns the norm_sum() of the points at two positions, and is valid until use()
/// returns. In plain space of up to three dimensions it is compiled for their number. index: with float64 coordinates.
template <class Use>
void with_pair_sum(const SearchIndex& index, const Use& use) {
  std::vector<const double*> axes(index.dims());
  for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = index.coordinates<double>(k);
  const auto use_plain = [&]<std::size_t... K>(std::index_sequence<K...>) {
    constexpr std::size_t kDims = sizeof...(K);
    use([x = std::array<const double*, kDims>{axes[K]...}](std::uint32_t p, std::uint32_t q) noexcept {
      return squared_distance<kDims>([&](std::size_t k) { return x[k][p]; }, [&](std::size_t k) { return x[k][q]; },
                                     kDims);
    });
  };
  const Space& space = index.space();
  if (space.plain() && axes.size() == 1) return use_plain(std::make_index_sequence<1>());
  if (space.plain() && axes.size() == 2) return use_plain(std::make_index_sequence<2>());
  if (space.plain() && axes.size() == 3) return use_plain(std::make_index_sequence<3>());
  std::vector<double> periods;
  for (const ClosedAxis& axis : space.axes) periods.push_back(axis.length);
  const SpaceView view{space.norm, space.power, periods.empty() ? nullptr : periods.data()};
  use([&axes, view](std::uint32_t p, std::uint32_t q) noexcept {
    return norm_sum<0>(
        view, [&](std::size_t k) { return axes[k][p]; }, [&](std::size_t k) { return axes[k][q]; }, axes.size());
  });
}

}  // namespace epsflow::index
