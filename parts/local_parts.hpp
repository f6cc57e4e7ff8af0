// Points in the memory of this process, cut into parts where they lie.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/descent.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/interior.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/point_rows.hpp>

namespace epsflow::parts {

/// There were more ghosts than was said that there may be.
struct TooManyGhosts {};

/// Nothing is moved. Rows are in blocks, and each block has a list of its rows by part. The points of a part are its own rows in their order,
/// and are picked out as they are brought to where they are worked on. Beside the input it takes 2 bytes a row, and the ghosts. Immutable,
/// thread-safe.
class LocalParts {
 public:
  /// points: [n × d], must outlive it; brought again and again where they are not in memory. units: their weights in whole units, [n], or none; must outlive it. reaches: how far ghosts reach in the
  /// views that will be asked for, ascending. O(n·(d + log parts)), in parallel. Throws UsageError as GhostFinder, ResourceError for a part
  /// of more points than 32-bit ids tell.
  LocalParts(PointRows points, std::span<const std::int64_t> units, const Partition& partition, const Space& space,
             std::vector<double> reaches, std::uint64_t most_ghosts = ~std::uint64_t{0});

  [[nodiscard]] std::size_t rows() const noexcept { return points_.size(); }
  [[nodiscard]] std::size_t parts() const noexcept { return sizes_.size(); }
  [[nodiscard]] std::size_t own(std::size_t part) const noexcept { return sizes_[part]; }
  /// Bytes that are held beside the points, and were while ghosts were found.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// The same of each ghost.
  [[nodiscard]] static std::uint64_t ghost_bytes(const PointRows& points, bool weights) noexcept;
  /// Points of the largest part, ghosts included.
  [[nodiscard]] std::uint64_t most_points() const noexcept { return most_; }

  /// A part as it is clustered: own points, behind them ghosts within a reach, and behind these ghosts beyond it, so that those within have
  /// all their neighbours.
  struct View {
    std::size_t part = 0;
    std::size_t own = 0;
    std::size_t near = 0;                  ///< ghosts within
    std::size_t beyond = 0;                ///< further ghosts
    std::vector<std::uint32_t> lent;       ///< own points that others have as ghosts within, by part
    std::vector<std::size_t> lent_to;      ///< [parts + 1] where those of each part begin
    std::vector<std::size_t> near_of;      ///< [parts + 1] where the ghosts of each part begin
    std::vector<std::int64_t> units = {};  ///< of all points, where they have weights

    [[nodiscard]] std::size_t size() const noexcept { return own + near + beyond; }
  };
  /// near, beyond: two of the reaches.
  [[nodiscard]] View view(std::size_t part, double near, double beyond) const;
  /// The points of a view, which must outlive what is returned.
  [[nodiscard]] PointsSource source(const View& view, double near, double beyond) const;

  /// The rows of own points of a part. ids: ascending. In parallel, O(rows) at most.
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::size_t part, std::span<const std::uint32_t> ids) const;
  /// Calls f(row, id) for each own point of a part, in parallel.
  template <class F>
  void for_own(std::size_t part, F&& f) const {
    for_blocks([&](std::size_t b) { for_own(part, b, f); });
  }
  /// Calls f(part, row, id) for the points of all parts, in parallel by row, and within some rows by part.
  template <class F>
  void for_all(F&& f) const {
    for_blocks([&](std::size_t b) {
      for (std::size_t part = 0; part < parts(); ++part) {
        for_own(part, b, [&](std::size_t row, std::size_t id) { f(part, row, id); });
      }
    });
  }

 private:
  /// Points of one part that another has as ghosts, by how far off they are.
  struct Ghosts {
    std::vector<std::uint32_t> points;  ///< in their part
    std::vector<std::size_t> within;    ///< [reaches] how many are
    Buffer<std::byte> coordinates;      ///< where they are, or their images
    std::vector<std::int64_t> units;    ///< their weights
  };
  struct Found;
  template <class T>
  struct Stretch;
  template <class T>
  void place(const Partition& partition, const Space& space);
  template <class T, std::size_t Dims>
  void place(const Interior<T>& interior, const Descent& descent, const GhostFinder& finder, Stretch<T>& stretch);
  void sort_by_part(std::span<const std::uint16_t> part_of, std::size_t b, std::span<std::uint16_t> at);
  template <class T>
  void collect(const std::vector<Stretch<T>>& stretches);

  template <class F>
  void for_blocks(F&& f) const {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks_, 4), [&](const auto& range) {
      for (std::size_t b = range.begin(); b < range.end(); ++b) f(b);
    });
  }
  [[nodiscard]] std::uint32_t& start(std::size_t part, std::size_t b) noexcept {
    return starts_[part * (blocks_ + 1) + b];
  }
  [[nodiscard]] std::uint32_t start(std::size_t part, std::size_t b) const noexcept {
    return starts_[part * (blocks_ + 1) + b];
  }
  /// Where in a block the points of a part are.
  [[nodiscard]] std::span<const std::uint16_t> own_in(std::size_t part, std::size_t b) const noexcept {
    const std::uint16_t* const of_block = begins_.data() + b * (parts() + 1) + part;
    return {by_part_.data() + b * block_ + of_block[0], by_part_.data() + b * block_ + of_block[1]};
  }
  template <class F>
  void for_own(std::size_t part, std::size_t b, F&& f) const {
    std::size_t id = start(part, b);
    for (const std::uint16_t at : own_in(part, b)) f(b * block_ + at, id++);
  }
  void write_own(std::size_t part, std::size_t first, std::size_t last, std::byte* to) const;
  /// Calls f(ghosts, first, last) for the ghosts of a part by the part that they are of: those within a reach, or those beyond it.
  template <class F>
  void for_near(std::size_t part, double near, F&& f) const;
  template <class F>
  void for_beyond(std::size_t part, double near, double beyond, F&& f) const;
  [[nodiscard]] std::size_t place_of(double reach) const;
  [[nodiscard]] const Ghosts& ghosts(std::size_t of, std::size_t to) const { return ghosts_[of * parts() + to]; }

  PointRows points_;
  std::span<const std::int64_t> units_;
  std::vector<double> reaches_;
  std::vector<std::size_t> sizes_;  ///< [parts]
  std::uint64_t most_ = 0;
  std::uint64_t all_ghosts_ = 0;
  std::size_t block_;  ///< rows
  std::size_t blocks_;
  Buffer<std::uint16_t> by_part_;      ///< [n] rows within their block, by part
  std::vector<std::uint16_t> begins_;  ///< [blocks × (parts + 1)] where those of each part begin
  std::vector<std::uint32_t> starts_;  ///< [parts × (blocks + 1)] own points of the blocks before
  const std::uint64_t most_ghosts_;
  std::atomic<std::uint64_t> found_{0};  ///< ghosts so far
  std::vector<Ghosts> ghosts_;           ///< [of × to]
};

}  // namespace epsflow::parts
