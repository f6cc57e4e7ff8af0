// Compares the pairs of a search by tiles with brute force, for all sources of candidates and all deciders.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/gpu/tiles/tile_search.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

using test::DataSet;
using test::Random;

inline constexpr std::array kKinds{IndexChoice::grid, IndexChoice::tree, IndexChoice::all};
struct Filter {
  const char* name;
  DecideChoice decide;
  bool portable = false;
};
/// The last two differ only on GPUs that have a special kernel.
inline constexpr std::array kFilters{Filter{"scalar", DecideChoice::scalar}, Filter{"tensor64", DecideChoice::tensor64},
                                     Filter{"tensor16, portable", DecideChoice::tensor16, true},
                                     Filter{"tensor16", DecideChoice::tensor16}};

inline const char* name_of(IndexChoice kind) {
  return kind == IndexChoice::all ? "all" : kind == IndexChoice::grid ? "grid" : "tree";
}

/// The number of times that each pair was found, at lower id · n + higher id.
using PairTimes = std::vector<std::uint8_t>;

inline PairTimes expected_pairs(const DataSet& data, double eps) {
  const std::size_t n = data.size();
  const double limit = eps * eps;
  PairTimes times(n * n, 0);
  const auto compare = [&](const auto& values) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        times[p * n + q] = index::is_neighbor(&values[p * data.dims], &values[q * data.dims], data.dims, limit) ? 1 : 0;
      }
    }
  };
  if (data.precision == Precision::float32) {
    compare(data.floats);
  } else {
    compare(data.doubles);
  }
  return times;
}

inline std::size_t count_pairs(const PairTimes& times) {
  return static_cast<std::size_t>(std::count(times.begin(), times.end(), std::uint8_t{1}));
}

struct Device {
  explicit Device(std::uint64_t limit = 1ULL << 30) : memory(0, limit) {}

  DeviceMemory memory;
  PinnedPool pinned;
  CancelToken cancel;
};

/// Collects all lists of one pass over the pairs. Returns the number of lists.
inline std::size_t collect_lists(TileSearch& search, PairTimes& times) {
  const std::uint64_t n = search.tiles().size();
  const auto order = search.tiles().host_order();
  times.assign(n * n, 0);
  std::size_t lists = 0;
  bool ordered = true;
  search.for_each_list([&](PairsOnDevice list) {
    ++lists;
    for (const PointPair pair : read_values(list.pairs, list.size, search.stream().get())) {
      if (pair.first == kNoPoint) continue;
      if (pair.first >= pair.second || pair.second >= n) {
        ordered = false;
        continue;
      }
      const std::uint64_t p = order[pair.first];
      const std::uint64_t q = order[pair.second];
      std::uint8_t& seen = times[std::min(p, q) * n + std::max(p, q)];
      if (seen < 2) ++seen;
    }
  });
  REQUIRE(ordered);
  return lists;
}

inline void require_same(const PairTimes& found, const PairTimes& expected, std::size_t n) {
  if (found == expected) return;
  const auto [here, there] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  const auto at = static_cast<std::size_t>(here - found.begin());
  FAIL("ids " << at / n << " and " << at % n << " are there " << int{*here} << " times, expected " << int{*there}
              << "; found " << count_pairs(found) << " pairs of " << count_pairs(expected));
}

/// Runs a search of each kind with each decider. check_figures(decide, figures) checks how each was done.
template <class Check>
void check_case(Device& device, const DataSet& data, double eps, Check check_figures) {
  INFO(test::describe(data) << ", eps " << eps);
  const PairTimes expected = expected_pairs(data, eps);
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  for (const auto kind : kKinds) {
    const auto tiles =
        std::make_shared<const DeviceTileOrder>(points, eps, kind, device.memory, device.pinned, device.cancel);
    for (const Filter& filter : kFilters) {
      INFO(name_of(kind) << ", " << filter.name);
      TileSearch search(points, tiles, {.eps = eps, .decide = filter.decide, .portable = filter.portable},
                        device.memory, device.cancel);
      PairTimes found;
      collect_lists(search, found);
      require_same(found, expected, data.size());
      REQUIRE(search.figures().tile_pairs == tiles->tile_pairs());
      check_figures(filter.decide, search.figures());
      if (!search.cached()) continue;
      REQUIRE(collect_lists(search, found) == 1);
      require_same(found, expected, data.size());
    }
  }
}

inline void check_case(Device& device, const DataSet& data, double eps) {
  check_case(device, data, eps, [](DecideChoice decide, const TileFigures& figures) {
    if (decide == DecideChoice::scalar) REQUIRE(figures.undecided_pairs == 0);
  });
}

/// Returns a data set of `values` in the given precision.
inline DataSet by_hand(std::string kind, const std::vector<double>& values, std::size_t dims, Precision precision) {
  DataSet data;
  data.kind = std::move(kind);
  data.dims = dims;
  data.precision = precision;
  if (precision == Precision::float64) {
    data.doubles = values;
  } else {
    for (const double v : values) data.floats.push_back(static_cast<float>(v));
  }
  return data;
}

}  // namespace epsflow::gpu
