// Points as pixels: what many points look like from far away.
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
  std::string unit;  ///< empty: none, or not known
  double from = 0;
  double to = 1;
};

/// What a pixel is painted with, beside the clusters by their rank.
inline constexpr std::uint8_t kNoiseValue = 1;
inline constexpr std::uint8_t kFirstValue = 2;    ///< of the largest cluster; the next are of the next largest
inline constexpr std::uint8_t kOtherValue = 255;  ///< of all clusters for which there is no value of their own

/// The value of each label, that of noise first: [clusters + 1]. sizes: [clusters]. Of equally large clusters the lower label comes first.
[[nodiscard]] Bytes values_of(std::span<const std::uint64_t> sizes);

/// Which pixels have points, and which these are. 4·n bytes.
class Raster {
 public:
  /// pixels: [n] of each point, y · width + x, below width · height. O(n + width · height).
  Raster(std::uint32_t width, std::uint32_t height, std::span<const std::uint32_t> pixels);

  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  /// Those with points, ascending.
  [[nodiscard]] std::span<const std::uint32_t> occupied() const noexcept { return occupied_; }
  /// Points in each of them.
  [[nodiscard]] std::uint64_t points_in(std::size_t i) const noexcept { return offsets_[i + 1] - offsets_[i]; }

  /// [occupied] The value that most points of a pixel have, the lowest of equally frequent ones. labels: [n]. values: values_of(). O(n),
  /// in parallel on the threads of the calling arena.
  [[nodiscard]] Bytes paint(std::span<const std::int32_t> labels, std::span<const std::uint8_t> values) const;

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<std::uint32_t> occupied_;
  std::vector<std::uint64_t> offsets_;  ///< [occupied + 1]
  Buffer<std::uint32_t> order_;         ///< [n] points by pixel
};

/// The pixels of a raster in fours, and these in fours, …: what is painted gets smaller with each level.
class Pyramid {
 public:
  explicit Pyramid(const Raster& raster);

  static constexpr std::size_t kLevels = 4;  ///< that of the raster itself is 0

  /// What most points have in each occupied pixel of `level`, as far as pixels of the raster tell: each of its points counts for what
  /// was painted. painted: Raster::paint(). O(pixels).
  [[nodiscard]] Bytes at(std::size_t level, std::span<const std::uint8_t> painted) const;

 private:
  struct Level {
    std::vector<std::uint32_t> pixel_of;  ///< [occupied] which occupied pixel of the level each one of the raster is in
    std::size_t pixels = 0;
  };
  std::array<Level, kLevels> levels_;
  std::vector<std::uint64_t> points_;  ///< [occupied]
};

}  // namespace epsflow::report
