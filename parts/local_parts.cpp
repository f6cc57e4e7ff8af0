#include <epsflow/parts/local_parts.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

/// Rows of so few are listed part by part, which vectors do.
constexpr std::size_t kFewParts = 32;

/// Rows of a block, for each of which there are six bytes a part. Those of each are numbered by 16 bits.
std::size_t block_for(std::size_t parts) { return parts <= kFewParts ? 1 << 12 : 1 << 15; }

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
      sizes_(partition.parts()),
      block_(block_for(partition.parts())),
      blocks_((points.size() + block_ - 1) / block_),
      by_part_(points.size()),
      begins_(blocks_ * (sizes_.size() + 1), 0),
      starts_(sizes_.size() * (blocks_ + 1)),
      most_ghosts_(most_ghosts),
      ghosts_(sizes_.size() * sizes_.size()) {
  points.visit([&](auto zero) { place<decltype(zero)>(partition, space); });
}

template <class T>
void LocalParts::place(const Partition& partition, const Space& space) {
  constexpr std::size_t kMostStretches = 512;
  const std::size_t count = std::clamp<std::size_t>(blocks_, 1, kMostStretches);
  std::vector<Stretch<T>> stretches(count);
  for (std::size_t s = 0; s < count; ++s) {
    stretches[s].first = blocks_ * s / count;
    stretches[s].last = blocks_ * (s + 1) / count;
  }
  const Descent descent(partition);
  const GhostFinder finder(partition, space, points_.dims(), reaches_.back());
  const Interior<T> interior(partition, space, points_.dims(), reaches_.back());
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t s) {
    switch (points_.dims()) {
      case 2:
        return place<T, 2>(interior, descent, finder, stretches[s]);
      case 3:
        return place<T, 3>(interior, descent, finder, stretches[s]);
      default:
        return place<T, 0>(interior, descent, finder, stretches[s]);
    }
  });
  tbb::parallel_for(std::size_t{0}, parts(), [&](std::size_t part) {
    std::uint64_t all = 0;
    for (std::size_t b = 1; b <= blocks_; ++b) {
      all += start(part, b);
      start(part, b) = static_cast<std::uint32_t>(all);
    }
    sizes_[part] = all;
  });
  collect(stretches);
}

/// Dims: those of the points, or 0 where the compiler need not know them.
template <class T, std::size_t Dims>
void LocalParts::place(const Interior<T>& interior, const Descent& descent, const GhostFinder& finder,
                       Stretch<T>& stretch) {
  const std::size_t d = Dims > 0 ? Dims : points_.dims();
  std::vector<std::uint16_t> part_of(block_), closer(block_ + kFoundBeyond), at(block_ + kFoundBeyond);
  std::vector<double> point(d), scratch;
  Buffer<std::byte> room;
  for (std::size_t b = stretch.first; b < stretch.last; ++b) {
    const std::size_t begin = b * block_, size = std::min(rows(), begin + block_) - begin;
    const T* const block = reinterpret_cast<const T*>(points_.rows(begin, begin + size, room));
    const std::span<std::uint16_t> of_block = std::span(part_of).first(size);
    interior.find(block, of_block);
    const std::size_t left = find_equal(of_block, Interior<T>::kMixed, closer.data());
    if (left == size) {
      descent.find_parts(block, d, size, part_of.data());
    } else {
      for (std::size_t j = 0; j < left; ++j) {
        part_of[closer[j]] = static_cast<std::uint16_t>(descent.part_of(block + closer[j] * d));
      }
    }
    sort_by_part(of_block, b, at);
    const std::size_t found_before = stretch.found.size();
    for (std::size_t j = 0; j < left; ++j) {
      const std::uint16_t i = closer[j];
      const std::uint32_t part = part_of[i];
      if (finder.inside<T, Dims>(part, block + i * d)) continue;
      std::copy_n(block + i * d, d, point.begin());
      const std::span<const std::uint16_t> own = own_in(part, b);
      const auto place = static_cast<std::uint32_t>(std::lower_bound(own.begin(), own.end(), i) - own.begin());
      finder.for_ghosts(part, point, scratch, [&](std::uint32_t to, double distance, std::span<const double> where) {
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

/// The list of the rows of a block. part_of: theirs. at: scratch, [kFoundBeyond more].
void LocalParts::sort_by_part(std::span<const std::uint16_t> part_of, std::size_t b, std::span<std::uint16_t> at) {
  std::uint16_t* const begins = begins_.data() + b * (parts() + 1);
  std::uint16_t* const by_part = by_part_.data() + b * block_;
  if (parts() <= kFewParts) {
    for (std::size_t part = 0; part < parts(); ++part) {
      const std::size_t count = find_equal(part_of, static_cast<std::uint16_t>(part), at.data() + begins[part]);
      start(part, b + 1) = static_cast<std::uint32_t>(count);
      begins[part + 1] = static_cast<std::uint16_t>(begins[part] + count);
    }
    std::copy_n(at.begin(), part_of.size(), by_part);
    return;
  }
  std::vector<std::uint32_t> next(parts(), 0);
  for (const std::uint16_t part : part_of) ++next[part];
  for (std::size_t part = 0; part < parts(); ++part) {
    start(part, b + 1) = next[part];
    begins[part + 1] = static_cast<std::uint16_t>(begins[part] + next[part]);
    next[part] = begins[part];
  }
  for (std::size_t i = 0; i < part_of.size(); ++i) by_part[next[part_of[i]]++] = static_cast<std::uint16_t>(i);
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
    tbb::parallel_for(std::size_t{0}, groups, [&](std::size_t g) {
      for (std::size_t s = stretches.size() * g / groups; s < stretches.size() * (g + 1) / groups; ++s) {
        f(stretches[s], next.data() + g * keys);
      }
    });
  };
  for_stretches([&](const Stretch<T>& stretch, std::uint32_t* counts) {
    for (const Found& ghost : stretch.found) ++counts[key_of(ghost)];
  });
  const std::size_t row = points_.dims() * sizeof(T);
  tbb::parallel_for(std::size_t{0}, ghosts_.size(), [&](std::size_t pair) {
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
      ghosts.points[at] = ghost.point + start(ghost.of, ghost.row / block_);
      std::memcpy(ghosts.coordinates.data() + at * row, stretch.coordinates.data() + i * points_.dims(), row);
      if (!units_.empty()) ghosts.units[at] = units_[ghost.row];
    }
  });
  for (std::size_t part = 0; part < parts(); ++part) {
    std::uint64_t all = sizes_[part];
    for (std::size_t of = 0; of < parts(); ++of) all += ghosts(of, part).points.size();
    require_count(all);
    most_ = std::max(most_, all);
    all_ghosts_ += all - sizes_[part];
  }
}

std::uint64_t LocalParts::bytes() const noexcept {
  return by_part_.size() * sizeof(std::uint16_t) + begins_.size() * sizeof(std::uint16_t) +
         starts_.size() * sizeof(std::uint32_t) + all_ghosts_ * ghost_bytes(points_, !units_.empty());
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

LocalParts::View LocalParts::view(std::size_t part, double near, double beyond) const {
  View view{.part = part, .own = own(part), .lent = {}, .lent_to = {0}, .near_of = {0}};
  for (std::size_t to = 0; to < parts(); ++to) {
    const Ghosts& lent = ghosts(part, to);
    const auto first = lent.points.begin();
    view.lent.insert(view.lent.end(), first, first + static_cast<std::ptrdiff_t>(lent.within[place_of(near)]));
    view.lent_to.push_back(view.lent.size());
  }
  if (!units_.empty()) {
    view.units.resize(view.own);
    for_own(part, [&](std::size_t row, std::size_t id) { view.units[id] = units_[row]; });
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

PointsSource LocalParts::source(const View& view, double near, double beyond) const {
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

std::vector<std::uint32_t> LocalParts::rows_of(std::size_t part, std::span<const std::uint32_t> ids) const {
  std::vector<std::uint32_t> found(ids.size());
  for_blocks([&](std::size_t b) {
    const std::uint32_t first = start(part, b), last = start(part, b + 1);
    const std::span<const std::uint16_t> at = own_in(part, b);
    for (auto id = std::lower_bound(ids.begin(), ids.end(), first); id != ids.end() && *id < last; ++id) {
      found[static_cast<std::size_t>(id - ids.begin())] = static_cast<std::uint32_t>(b * block_ + at[*id - first]);
    }
  });
  return found;
}

void LocalParts::write_own(std::size_t part, std::size_t first, std::size_t last, std::byte* to) const {
  if (first == last) return;
  const std::size_t row = points_.row_bytes();
  Buffer<std::byte> room;
  const auto* const starts = starts_.data() + part * (blocks_ + 1);
  auto b = static_cast<std::size_t>(std::upper_bound(starts, starts + blocks_ + 1, first) - starts) - 1;
  for (; first < last; ++b) {
    const std::size_t begin = starts[b], count = starts[b + 1] - begin;
    if (count == 0) continue;
    const std::size_t from = first - begin, taken = std::min(last, begin + count) - first;
    const std::byte* const block = points_.rows(b * block_, std::min(rows(), (b + 1) * block_), room);
    if (count == block_) {
      std::memcpy(to, block + from * row, taken * row);
    } else {
      copy_rows(block, row, own_in(part, b).data() + from, taken, to);
    }
    to += taken * row;
    first += taken;
  }
}

}  // namespace epsflow::parts
