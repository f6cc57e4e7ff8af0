#include <epsflow/parts/local_parts.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

/// Copies rows of a block.
void copy_rows(const std::byte* from, std::size_t row, const std::uint16_t* at, std::size_t count, std::byte* to) {
  with_row_bytes(row, [&](auto bytes) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, from + at[i] * bytes, bytes);
  });
}

}  // namespace

/// A ghost as it is found.
struct LocalParts::Found {
  std::uint32_t row;
  std::uint32_t point;  ///< in its part and block
  std::uint16_t of;
  std::uint16_t to;
  std::uint32_t reach;  ///< the first that it is within
};

/// What is found in a stretch of blocks.
template <class T>
struct LocalParts::Stretch {
  std::size_t first = 0;  ///< block
  std::size_t last = 0;
  std::vector<Found> found;    ///< by row
  std::vector<T> coordinates;  ///< of each
};

LocalParts::LocalParts(PointRows points, std::span<const std::int64_t> units, const Partition& partition,
                       const Space& space, std::vector<double> reaches, std::uint64_t most_ghosts)
    : points_(points),
      units_(units),
      reaches_(std::move(reaches)),
      rows_(points.size(), partition.parts()),
      most_ghosts_(most_ghosts),
      ghosts_(partition.parts() * partition.parts()) {
  points.visit([&](auto zero) { place<decltype(zero)>(partition, space); });
}

template <class T>
void LocalParts::place(const Partition& partition, const Space& space) {
  constexpr std::size_t kMostStretches = 512;
  const std::size_t count = std::clamp<std::size_t>(rows_.blocks(), 1, kMostStretches);
  std::vector<Stretch<T>> stretches(count);
  for (std::size_t s = 0; s < count; ++s) {
    stretches[s].first = rows_.blocks() * s / count;
    stretches[s].last = rows_.blocks() * (s + 1) / count;
  }
  const PartFinder<T> parts(partition, space, points_.dims(), reaches_.back());
  const GhostFinder ghosts(partition, space, points_.dims(), reaches_.back());
  parallel_for(count, [&](std::size_t s) {
    switch (points_.dims()) {
      case 2:
        return place<T, 2>(parts, ghosts, stretches[s]);
      case 3:
        return place<T, 3>(parts, ghosts, stretches[s]);
      default:
        return place<T, 0>(parts, ghosts, stretches[s]);
    }
  });
  rows_.number();
  collect(stretches);
}

/// Dims: those of the points, or 0 where the compiler need not know them.
template <class T, std::size_t Dims>
void LocalParts::place(const PartFinder<T>& parts, const GhostFinder& ghosts, Stretch<T>& stretch) {
  const std::size_t d = Dims > 0 ? Dims : points_.dims();
  std::vector<std::uint16_t> part_of, scratch;
  std::vector<double> point(d), images;
  Buffer<std::byte> room;
  for (std::size_t b = stretch.first; b < stretch.last; ++b) {
    const std::size_t begin = rows_.begin(b), end = rows_.begin(b + 1);
    const T* const block = reinterpret_cast<const T*>(points_.rows(begin, end, room));
    part_of.resize(end - begin);
    const std::span<const std::uint16_t> near = parts.find(block, part_of, scratch);
    rows_.list(b, part_of);
    const std::size_t found_before = stretch.found.size();
    for (const std::uint16_t i : near) {
      const std::uint32_t part = part_of[i];
      if (ghosts.inside<T, Dims>(part, block + i * d)) continue;
      std::copy_n(block + i * d, d, point.begin());
      const std::span<const std::uint16_t> own = rows_.in(part, b);
      const auto place = static_cast<std::uint32_t>(std::lower_bound(own.begin(), own.end(), i) - own.begin());
      ghosts.for_ghosts(part, point, images, [&](std::uint32_t to, double distance, std::span<const double> where) {
        const auto reach = std::lower_bound(reaches_.begin(), reaches_.end(), distance) - reaches_.begin();
        stretch.found.push_back({static_cast<std::uint32_t>(begin + i), place, static_cast<std::uint16_t>(part),
                                 static_cast<std::uint16_t>(to), static_cast<std::uint32_t>(reach)});
        for (const double c : where) stretch.coordinates.push_back(static_cast<T>(c));
      });
    }
    const std::uint64_t found = stretch.found.size() - found_before;
    if (found_.fetch_add(found, std::memory_order_relaxed) + found > most_ghosts_) throw TooManyGhosts();
  }
}

/// Ghosts by pair of parts, reach and row: counted, and then put where they belong.
template <class T>
void LocalParts::collect(const std::vector<Stretch<T>>& stretches) {
  const std::size_t keys = ghosts_.size() * reaches_.size();
  const auto pair_of = [&](const Found& ghost) { return ghost.of * parts() + ghost.to; };
  const auto key_of = [&](const Found& ghost) { return pair_of(ghost) * reaches_.size() + ghost.reach; };
  // Each of some groups of stretches counts its ghosts by pair of parts and reach.
  constexpr std::size_t kMostCounts = 1 << 24;
  const std::size_t groups = std::clamp<std::size_t>(kMostCounts / keys, 1, stretches.size());
  std::vector<std::uint32_t> next(groups * keys, 0);
  const auto for_stretches = [&](const auto& f) {
    parallel_for(groups, [&](std::size_t g) {
      for (std::size_t s = stretches.size() * g / groups; s < stretches.size() * (g + 1) / groups; ++s) {
        f(stretches[s], next.data() + g * keys);
      }
    });
  };
  for_stretches([&](const Stretch<T>& stretch, std::uint32_t* counts) {
    for (const Found& ghost : stretch.found) ++counts[key_of(ghost)];
  });
  const std::size_t row = points_.dims() * sizeof(T);
  parallel_for(ghosts_.size(), [&](std::size_t pair) {
    Ghosts& ghosts = ghosts_[pair];
    std::uint64_t all = 0;
    for (std::size_t key = pair * reaches_.size(); key < (pair + 1) * reaches_.size(); ++key) {
      for (std::size_t g = 0; g < groups; ++g) {
        all += std::exchange(next[g * keys + key], static_cast<std::uint32_t>(all));
      }
      ghosts.within.push_back(all);
    }
    require_count(all);
    ghosts.points.resize(all);
    ghosts.coordinates = Buffer<std::byte>(all * row);
    if (!units_.empty()) ghosts.units.resize(all);
  });
  for_stretches([&](const Stretch<T>& stretch, std::uint32_t* to) {
    for (std::size_t i = 0; i < stretch.found.size(); ++i) {
      const Found& ghost = stretch.found[i];
      Ghosts& ghosts = ghosts_[pair_of(ghost)];
      const std::uint32_t at = to[key_of(ghost)]++;
      ghosts.points[at] = ghost.point + rows_.start(ghost.of, rows_.block_of(ghost.row));
      std::memcpy(ghosts.coordinates.data() + at * row, stretch.coordinates.data() + i * points_.dims(), row);
      if (!units_.empty()) ghosts.units[at] = units_[ghost.row];
    }
  });
  for (std::size_t part = 0; part < parts(); ++part) {
    std::uint64_t all = rows_.size(part);
    for (std::size_t of = 0; of < parts(); ++of) all += ghosts(of, part).points.size();
    require_count(all);
    most_ = std::max(most_, all);
    all_ghosts_ += all - rows_.size(part);
  }
}

std::uint64_t LocalParts::bytes() const noexcept {
  return rows_.bytes() + all_ghosts_ * ghost_bytes(points_, !units_.empty());
}

std::uint64_t LocalParts::ghost_bytes(const PointRows& points, bool weights) noexcept {
  return sizeof(Found) + 2 * points.row_bytes() + sizeof(std::uint32_t) + (weights ? sizeof(std::int64_t) : 0);
}

std::size_t LocalParts::place_of(double reach) const {
  return static_cast<std::size_t>(std::lower_bound(reaches_.begin(), reaches_.end(), reach) - reaches_.begin());
}

template <class F>
void LocalParts::for_near(std::size_t part, double near, F&& f) const {
  const std::size_t within = place_of(near);
  for (std::size_t of = 0; of < parts(); ++of) f(ghosts(of, part), std::size_t{0}, ghosts(of, part).within[within]);
}

template <class F>
void LocalParts::for_beyond(std::size_t part, double near, double beyond, F&& f) const {
  const std::size_t within = place_of(near), behind = place_of(beyond);
  for (std::size_t of = 0; of < parts(); ++of) {
    f(ghosts(of, part), ghosts(of, part).within[within], ghosts(of, part).within[behind]);
  }
}

PartView LocalParts::view(std::size_t part, double near, double beyond) const {
  PartView view{.part = part, .own = rows_.size(part), .lent = {}, .lent_to = {0}, .near_of = {0}};
  for (std::size_t to = 0; to < parts(); ++to) {
    const Ghosts& lent = ghosts(part, to);
    const auto first = lent.points.begin();
    view.lent.insert(view.lent.end(), first, first + static_cast<std::ptrdiff_t>(lent.within[place_of(near)]));
    view.lent_to.push_back(view.lent.size());
  }
  if (!units_.empty()) {
    view.units.resize(view.own);
    rows_.for_part(part, [&](std::size_t row, std::size_t id) { view.units[id] = units_[row]; });
  }
  const auto add = [&](const Ghosts& of, std::size_t first, std::size_t last) {
    if (units_.empty()) return;
    const auto begin = of.units.begin();
    view.units.insert(view.units.end(), begin + static_cast<std::ptrdiff_t>(first),
                      begin + static_cast<std::ptrdiff_t>(last));
  };
  for_near(part, near, [&](const Ghosts& of, std::size_t first, std::size_t last) {
    view.near += last - first;
    view.near_of.push_back(view.near);
    add(of, first, last);
  });
  for_beyond(part, near, beyond, [&](const Ghosts& of, std::size_t first, std::size_t last) {
    view.beyond += last - first;
    add(of, first, last);
  });
  return view;
}

PointsSource LocalParts::source(const PartView& view, double near, double beyond) const {
  struct Piece {
    std::size_t first;  ///< in the view
    std::size_t count;
    const std::byte* from;
  };
  const std::size_t row = points_.row_bytes();
  std::vector<Piece> pieces;  // of ghosts
  std::size_t at = view.own;
  const auto add = [&](const Ghosts& of, std::size_t first, std::size_t last) {
    if (last > first) pieces.push_back({at, last - first, of.coordinates.data() + first * row});
    at += last - first;
  };
  for_near(view.part, near, add);
  for_beyond(view.part, near, beyond, add);
  const auto write = [this, own = view.own, part = view.part, row, pieces = std::move(pieces)](
                         std::size_t first, std::size_t last, void* memory) {
    auto* to = static_cast<std::byte*>(memory);
    if (first < own) {
      write_own(part, first, std::min(last, own), to);
      to += (std::min(last, own) - first) * row;
      first = std::min(last, own);
    }
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), first,
                                  [](std::size_t place, const Piece& p) { return place < p.first; });
    while (first < last) {
      const Piece& from = *std::prev(piece++);
      const std::size_t count = std::min(last, from.first + from.count) - first;
      std::memcpy(to, from.from + (first - from.first) * row, count * row);
      to += count * row;
      first += count;
    }
  };
  return {view.size(), points_.dims(), points_.precision(), write};
}

void LocalParts::write_own(std::size_t part, std::size_t first, std::size_t last, std::byte* to) const {
  if (first == last) return;
  const std::size_t row = points_.row_bytes();
  Buffer<std::byte> room;
  for (std::size_t b = rows_.block_of(part, first); first < last; ++b) {
    const std::span<const std::uint16_t> at = rows_.in(part, b);
    if (at.empty()) continue;
    const std::size_t from = first - rows_.start(part, b), taken = std::min(last - first, at.size() - from);
    const std::size_t begin = rows_.begin(b), end = rows_.begin(b + 1);
    const std::byte* const block = points_.rows(begin, end, room);
    if (at.size() == end - begin) {
      std::memcpy(to, block + from * row, taken * row);
    } else {
      copy_rows(block, row, at.data() + from, taken, to);
    }
    to += taken * row;
    first += taken;
  }
}

}  // namespace epsflow::parts
