// Points as pixels: an image of many points from a distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/report/encoding.hpp>

namespace epsflow::report {

/// One axis of a plane.
struct Axis {
  std::string name;
  std::string unit;  ///< empty if there is none or it is unknown
  double from = 0;   ///< the smallest coordinate, at the left or lower end; if all are equal, at least 0.5 less
  double to = 1;     ///< the largest coordinate; if all are equal, at least 0.5 more
};

/// The values of pixels. Clusters have values by their rank.
inline constexpr std::uint8_t kNoiseValue = 1;
inline constexpr std::uint8_t kFirstValue = 2;    ///< the largest cluster; the next values are the next largest
inline constexpr std::uint8_t kOtherValue = 255;  ///< all clusters without a value of their own

/// Returns the indices of the largest sizes, at most `most` of them, largest first. Ties go to the lower index.
[[nodiscard]] std::vector<std::size_t> largest_of(std::span<const std::uint64_t> sizes, std::size_t most);

/// Returns the value of each label, noise first: [clusters + 1]. sizes: [clusters]. Ties go to the lower label.
[[nodiscard]] Bytes values_of(std::span<const std::uint64_t> sizes);

/// The pixels that have points, and the points of each. Memory: 4·n bytes.
class Raster {
 public:
  /// pixels: [n] the pixel of each point, y · width + x, below width · height. O(n + width · height).
  Raster(std::uint32_t width, std::uint32_t height, std::span<const std::uint32_t> pixels);

  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  /// Returns the pixels that have points, ascending.
  [[nodiscard]] std::span<const std::uint32_t> occupied() const noexcept { return occupied_; }
  /// Returns the number of points in occupied pixel i.
  [[nodiscard]] std::uint64_t points_in(std::size_t i) const noexcept { return offsets_[i + 1] - offsets_[i]; }

  /// Returns the most frequent value of the points of each occupied pixel: [occupied]. Ties go to the lowest value.
  /// labels: [n]. values: values_of(). O(n), in parallel on the threads of the calling arena.
  [[nodiscard]] Bytes paint(std::span<const std::int32_t> labels, std::span<const std::uint8_t> values) const;

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<std::uint32_t> occupied_;
  std::vector<std::uint64_t> offsets_;  ///< [occupied + 1]
  Buffer<std::uint32_t> order_;         ///< [n] points sorted by pixel
};

/// The raster at lower resolutions: each level merges 2 × 2 pixels of the level before, so that maps get smaller.
class Pyramid {
 public:
  explicit Pyramid(const Raster& raster);

  static constexpr std::size_t kLevels = 4;  ///< level 0 is the raster itself

  /// Returns the most frequent value in each occupied pixel of `level`. All points of a pixel of the raster count with
  /// its painted value. painted: Raster::paint(). O(pixels · log pixels).
  [[nodiscard]] Bytes at(std::size_t level, std::span<const std::uint8_t> painted) const;

 private:
  struct PyramidLevel {
    std::vector<std::uint32_t> pixel_of;  ///< [occupied] the index of the level's pixel that contains each pixel
    std::size_t pixels = 0;
  };
  std::array<PyramidLevel, kLevels> levels_;
  std::vector<std::uint64_t> points_;  ///< [occupied] the number of points in each pixel
};

}  // namespace epsflow::report
