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

/// Copies the rows with these offsets out of a block.
void copy_rows(const std::byte* from, std::size_t row, const std::uint16_t* at, std::size_t count, std::byte* to) {
  with_row_bytes(row, [&](auto bytes) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, from + at[i] * bytes, bytes);
  });
}

}  // namespace

LocalParts::LocalParts(PointRows points, std::span<const std::int64_t> units, const Partition& partition,
                       const Space& space, std::vector<double> reaches, std::uint64_t most_ghosts)
    : points_(points),
      units_(units),
      reaches_(std::move(reaches)),
      rows_(points.size(), partition.parts()),
      most_ghosts_(most_ghosts) {
  points.visit([&](auto zero) { assign<decltype(zero)>(partition, space); });
}

template <class T>
void LocalParts::assign(const Partition& partition, const Space& space) {
  constexpr std::size_t kMostStretches = 512;
  const std::size_t count = std::clamp<std::size_t>(rows_.blocks(), 1, kMostStretches);
  std::vector<FoundGhosts<T>> found(count);
  const PartFinder<T> parts(partition, space, points_.dims(), reaches_.back());
  const GhostFinder ghosts(partition, space, points_.dims(), reaches_.back());
  parallel_for(count, [&](std::size_t s) {
    const std::size_t first = rows_.blocks() * s / count, last = rows_.blocks() * (s + 1) / count;
    switch (points_.dims()) {
      case 2:
        return assign<T, 2>(parts, ghosts, first, last, found[s]);
      case 3:
        return assign<T, 3>(parts, ghosts, first, last, found[s]);
      default:
        return assign<T, 0>(parts, ghosts, first, last, found[s]);
    }
  });
  rows_.number();
  const auto point_of = [&](const FoundGhost& ghost) {
    return ghost.point + rows_.start(ghost.pair / this->parts(), rows_.block_of(ghost.row));
  };
  ghosts_ = sort_ghosts(std::span<const FoundGhosts<T>>(found), this->parts() * this->parts(), reaches_, points_.dims(),
                        units_, point_of);
  for (std::size_t part = 0; part < this->parts(); ++part) {
    std::uint64_t all = rows_.size(part);
    for_near(part, reaches_.back(), [&](std::size_t first, std::size_t last) { all += last - first; });
    require_count(all);
    most_ = std::max(most_, all);
  }
}

template <class T, std::size_t Dims>
void LocalParts::assign(const PartFinder<T>& parts, const GhostFinder& ghosts, std::size_t first_block,
                        std::size_t last_block, FoundGhosts<T>& found) {
  const std::size_t d = Dims > 0 ? Dims : points_.dims();
  std::vector<std::uint16_t> part_of, scratch;
  std::vector<double> point(d), images;
  Buffer<std::byte> buffer;
  for (std::size_t b = first_block; b < last_block; ++b) {
    const std::size_t begin = rows_.begin(b), end = rows_.begin(b + 1);
    const T* const block = reinterpret_cast<const T*>(points_.rows(begin, end, buffer));
    part_of.resize(end - begin);
    const std::span<const std::uint16_t> inner = parts.find(block, part_of, scratch);
    rows_.list(b, part_of);
    const std::size_t found_before = found.ghosts.size();
    for (const std::uint16_t i : inner) {
      const std::uint32_t part = part_of[i];
      if (ghosts.inside<T, Dims>(part, block + i * d)) continue;
      std::copy_n(block + i * d, d, point.begin());
      const std::span<const std::uint16_t> owned = rows_.in(part, b);
      const auto position = static_cast<std::uint32_t>(std::lower_bound(owned.begin(), owned.end(), i) - owned.begin());
      ghosts.for_ghosts(part, point, images, [&](std::uint32_t to, double distance, std::span<const double> where) {
        found.ghosts.push_back({static_cast<std::uint32_t>(begin + i), position,
                                static_cast<std::uint32_t>(pair(part, to)),
                                static_cast<std::uint32_t>(GhostOrder::first_within(reaches_, distance))});
        for (const double c : where) found.coordinates.push_back(static_cast<T>(c));
      });
    }
    const std::uint64_t more = found.ghosts.size() - found_before;
    if (found_.fetch_add(more, std::memory_order_relaxed) + more > most_ghosts_) throw TooManyGhosts();
  }
}

std::uint64_t LocalParts::bytes() const noexcept {
  return rows_.bytes() + ghosts_.order.size() * ghost_bytes(points_, !units_.empty());
}

std::uint64_t LocalParts::ghost_bytes(const PointRows& points, bool weights) noexcept {
  return sizeof(FoundGhost) + 2 * points.row_bytes() + sizeof(std::uint32_t) + (weights ? sizeof(std::int64_t) : 0);
}

template <class F>
void LocalParts::for_near(std::size_t part, double inner, F&& f) const {
  for (std::size_t of = 0; of < parts(); ++of)
    f(ghosts_.order.begin(pair(of, part)), ghosts_.order.end(pair(of, part), inner));
}

template <class F>
void LocalParts::for_beyond(std::size_t part, double inner, double outer, F&& f) const {
  for (std::size_t of = 0; of < parts(); ++of)
    f(ghosts_.order.end(pair(of, part), inner), ghosts_.order.end(pair(of, part), outer));
}

PartView LocalParts::view(std::size_t part, double inner, double outer) const {
  PartView view{.part = part, .owned = rows_.size(part), .send_list = {}, .send_begins = {0}, .inner_begins = {0}};
  for (std::size_t to = 0; to < parts(); ++to) {
    const std::uint32_t* const points = ghosts_.points.data();
    view.send_list.insert(view.send_list.end(), points + ghosts_.order.begin(pair(part, to)),
                          points + ghosts_.order.end(pair(part, to), inner));
    view.send_begins.push_back(view.send_list.size());
  }
  if (!units_.empty()) {
    view.units.resize(view.owned);
    rows_.for_part(part, [&](std::size_t row, std::size_t id) { view.units[id] = units_[row]; });
  }
  const auto add = [&](std::size_t first, std::size_t last) {
    if (!units_.empty()) view.units.insert(view.units.end(), ghosts_.units.data() + first, ghosts_.units.data() + last);
  };
  for_near(part, inner, [&](std::size_t first, std::size_t last) {
    view.inner += last - first;
    view.inner_begins.push_back(view.inner);
    add(first, last);
  });
  for_beyond(part, inner, outer, [&](std::size_t first, std::size_t last) {
    view.outer += last - first;
    add(first, last);
  });
  return view;
}

PointsSource LocalParts::source(const PartView& view, double inner, double outer) const {
  struct GhostPiece {
    std::size_t first;  ///< index in the view
    std::size_t count;
    const std::byte* from;
  };
  const std::size_t row = points_.row_bytes();
  std::vector<GhostPiece> pieces;  // of ghosts
  std::size_t at = view.owned;
  const auto add = [&](std::size_t first, std::size_t last) {
    if (last > first) pieces.push_back({at, last - first, ghosts_.coordinates.data() + first * row});
    at += last - first;
  };
  for_near(view.part, inner, add);
  for_beyond(view.part, inner, outer, add);
  const auto write = [this, owned = view.owned, part = view.part, row, pieces = std::move(pieces)](
                         std::size_t first, std::size_t last, void* memory) {
    auto* to = static_cast<std::byte*>(memory);
    if (first < owned) {
      write_own(part, first, std::min(last, owned), to);
      to += (std::min(last, owned) - first) * row;
      first = std::min(last, owned);
    }
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), first,
                                  [](std::size_t point, const GhostPiece& p) { return point < p.first; });
    while (first < last) {
      const GhostPiece& from = *std::prev(piece++);
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
  Buffer<std::byte> buffer;
  for (std::size_t b = rows_.block_of(part, first); first < last; ++b) {
    const std::span<const std::uint16_t> at = rows_.in(part, b);
    if (at.empty()) continue;
    const std::size_t from = first - rows_.start(part, b), taken = std::min(last - first, at.size() - from);
    const std::size_t begin = rows_.begin(b), end = rows_.begin(b + 1);
    const std::byte* const block = points_.rows(begin, end, buffer);
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
