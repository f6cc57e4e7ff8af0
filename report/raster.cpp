#include <epsflow/report/raster.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <epsflow/core/parallel.hpp>

namespace epsflow::report {

std::vector<std::size_t> largest_of(std::span<const std::uint64_t> sizes, std::size_t most) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  most = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most), {},
                            [&](std::size_t i) { return std::pair(~sizes[i], i); });
  order.resize(most);
  return order;
}

Bytes values_of(std::span<const std::uint64_t> sizes) {
  Bytes values(sizes.size() + 1, kOtherValue);
  values[0] = kNoiseValue;
  std::uint8_t next = kFirstValue;
  for (const std::size_t cluster : largest_of(sizes, kOtherValue - kFirstValue)) values[cluster + 1] = next++;
  return values;
}

Raster::Raster(std::uint32_t width, std::uint32_t height, std::span<const std::uint32_t> pixels)
    : width_(width), height_(height), offsets_{0}, order_(pixels.size()) {
  std::vector<std::uint64_t> begins(std::size_t{width} * height + 1);
  for (const std::uint32_t pixel : pixels) ++begins[pixel + 1];
  for (std::size_t pixel = 0; pixel + 1 < begins.size(); ++pixel) {
    if (begins[pixel + 1] > 0) {
      occupied_.push_back(static_cast<std::uint32_t>(pixel));
      offsets_.push_back(offsets_.back() + begins[pixel + 1]);
    }
    begins[pixel + 1] += begins[pixel];
  }
  for (std::size_t i = 0; i < pixels.size(); ++i) order_[begins[pixels[i]]++] = static_cast<std::uint32_t>(i);
}

Bytes Raster::paint(std::span<const std::int32_t> labels, std::span<const std::uint8_t> values) const {
  Bytes painted(occupied_.size());
  parallel_ranges(occupied_.size(), 256, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, 256> count{};
    for (std::size_t pixel = begin; pixel < end; ++pixel) {
      count.fill(0);
      std::uint8_t best = kNoiseValue;
      for (std::uint64_t i = offsets_[pixel]; i < offsets_[pixel + 1]; ++i) {
        const std::uint8_t value = values[static_cast<std::size_t>(std::int64_t{labels[order_[i]]} + 1)];
        ++count[value];
        if (count[value] > count[best] || (count[value] == count[best] && value < best)) best = value;
      }
      painted[pixel] = best;
    }
  });
  return painted;
}

Pyramid::Pyramid(const Raster& raster) {
  const std::span<const std::uint32_t> occupied = raster.occupied();
  for (std::size_t i = 0; i < occupied.size(); ++i) points_.push_back(raster.points_in(i));
  for (std::size_t l = 0; l < kLevels; ++l) {
    PyramidLevel& level = levels_[l];
    const std::uint32_t width = ((raster.width() - 1) >> l) + 1;
    const auto pixel_at = [&](std::uint32_t pixel) {
      return (pixel / raster.width() >> l) * width + (pixel % raster.width() >> l);
    };
    std::vector<std::uint32_t> pixels;
    for (const std::uint32_t pixel : occupied) pixels.push_back(pixel_at(pixel));
    std::vector<std::uint32_t> distinct = pixels;
    std::ranges::sort(distinct);
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    level.pixels = distinct.size();
    for (const std::uint32_t pixel : pixels) {
      level.pixel_of.push_back(
          static_cast<std::uint32_t>(std::ranges::lower_bound(distinct, pixel) - distinct.begin()));
    }
  }
}

Bytes Pyramid::at(std::size_t level, std::span<const std::uint8_t> painted) const {
  const PyramidLevel& to = levels_[level];
  if (level == 0) return {painted.begin(), painted.end()};
  // Votes are sorted by pixel and then by value, so equal ones are adjacent.
  struct Vote {
    std::uint32_t pixel;
    std::uint8_t value;
    std::uint64_t points;
  };
  std::vector<Vote> votes;
  votes.reserve(painted.size());
  for (std::size_t i = 0; i < painted.size(); ++i) votes.push_back({to.pixel_of[i], painted[i], points_[i]});
  std::ranges::sort(votes, {}, [](const Vote& vote) { return std::pair(vote.pixel, vote.value); });
  Bytes values(to.pixels, kNoiseValue);
  std::vector<std::uint64_t> most(to.pixels);
  for (std::size_t i = 0; i < votes.size();) {
    std::uint64_t points = 0;
    const Vote& first = votes[i];
    for (; i < votes.size() && votes[i].pixel == first.pixel && votes[i].value == first.value; ++i) {
      points += votes[i].points;
    }
    if (points <= most[first.pixel]) continue;
    most[first.pixel] = points;
    values[first.pixel] = first.value;
  }
  return values;
}

}  // namespace epsflow::report
