#include <epsflow/parts/interior.hpp>

#include <epsflow/index/instruction_sets.hpp>
// These lines must precede all headers of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/parts/interior.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace epsflow::parts {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// As many points as a vector has lanes, by coordinate.
template <class T, std::size_t Dims>
class Lanes {
 public:
  using Tag = hn::ScalableTag<T>;

  HWY_INLINE Lanes(const T* points, std::size_t d) : points_(points), d_(d) {
    hn::Vec<Tag> x, y, z;
    if constexpr (Dims == 2) {
      hn::LoadInterleaved2(Tag(), points, x, y);
      hn::Store(x, Tag(), values_);
      hn::Store(y, Tag(), values_ + kLanes);
    } else if constexpr (Dims == 3) {
      hn::LoadInterleaved3(Tag(), points, x, y, z);
      hn::Store(x, Tag(), values_);
      hn::Store(y, Tag(), values_ + kLanes);
      hn::Store(z, Tag(), values_ + 2 * kLanes);
    }
  }

  HWY_INLINE hn::Vec<Tag> operator[](std::size_t axis) {
    if constexpr (Dims > 0) return hn::Load(Tag(), values_ + axis * kLanes);
    for (std::size_t i = 0; i < kLanes; ++i) values_[i] = points_[i * d_ + axis];
    return hn::Load(Tag(), values_);
  }

  static constexpr std::size_t kLanes = hn::MaxLanes(Tag());

 private:
  const T* points_;
  std::size_t d_;
  HWY_ALIGN T values_[(Dims > 0 ? Dims : 1) * kLanes];
};

template <class T, std::size_t Dims>
void find_lanes(const Interior<T>& cuts, const T* points, std::span<std::uint16_t> parts) {
  using Taken = Lanes<T, Dims>;
  constexpr std::size_t kLanes = Taken::kLanes;
  const typename Taken::Tag tag;
  const hn::RebindToUnsigned<typename Taken::Tag> bits;
  const hn::Rebind<std::uint16_t, typename Taken::Tag> of_parts;
  using Bits = hn::TFromD<decltype(bits)>;
  // Numbers of parts as bit patterns in floating-point vectors, which are selected and never computed with.
  HWY_ALIGN Bits slots[Interior<T>::kMostSlots * kLanes];
  const auto slot = [&](std::size_t p) HWY_ATTR { return hn::BitCast(tag, hn::Load(bits, slots + p * kLanes)); };
  for (std::uint32_t p = 0; p <= cuts.mixed(); ++p) {
    const auto part = static_cast<Bits>(p < cuts.mixed() ? p : Interior<T>::kMixed);
    hn::Store(hn::Set(bits, part), bits, slots + p * kLanes);
  }
  const auto mixed = slot(cuts.mixed());
  const std::size_t d = cuts.dims();
  std::size_t first = 0;
  for (; first + kLanes <= parts.size(); first += kLanes) {
    Taken taken(points + first * d, d);
    auto found = mixed;
    std::size_t at = cuts.mixed();
    for (const typename Interior<T>::Node& node : cuts.nodes()) {
      const auto x = taken[node.axis];
      found = hn::IfThenElse(hn::Gt(x, hn::Set(tag, node.high)), slot(node.above), mixed);
      found = hn::IfThenElse(hn::Lt(x, hn::Set(tag, node.low)), slot(node.below), found);
      hn::Store(hn::BitCast(bits, found), bits, slots + ++at * kLanes);
    }
    hn::StoreU(hn::TruncateTo(of_parts, hn::BitCast(bits, found)), of_parts, parts.data() + first);
  }
  std::fill(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), Interior<T>::kMixed);
}

template <class T>
void find_in(const Interior<T>& cuts, const T* points, std::span<std::uint16_t> parts) {
  switch (cuts.dims()) {
    case 2:
      return find_lanes<T, 2>(cuts, points, parts);
    case 3:
      return find_lanes<T, 3>(cuts, points, parts);
    default:
      return find_lanes<T, 0>(cuts, points, parts);
  }
}

void find_float(const Interior<float>& cuts, const float* points, std::span<std::uint16_t> parts) {
  find_in(cuts, points, parts);
}
void find_double(const Interior<double>& cuts, const double* points, std::span<std::uint16_t> parts) {
  find_in(cuts, points, parts);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace epsflow::parts
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::parts {
namespace {

HWY_EXPORT(find_float);
HWY_EXPORT(find_double);

/// Upper bound on the rounding of a difference of coordinates, relative to the sum of their magnitudes.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

/// Returns a number in T below x; rounded_up() returns one above it.
template <class T>
T rounded_down(double x) {
  constexpr T kMost = std::numeric_limits<T>::max();
  return std::nextafter(static_cast<T>(std::clamp<double>(x, -kMost, kMost)), -std::numeric_limits<T>::infinity());
}
template <class T>
T rounded_up(double x) {
  return -rounded_down<T>(-x);
}

}  // namespace

template <class T>
Interior<T>::Interior(const Partition& partition, const Space& space, std::size_t dims, double reach)
    : dims_(dims), mixed_(static_cast<std::uint32_t>(partition.parts())) {
  if (partition.parts() > kMostParts || partition.cuts().empty()) return;
  add_faces(space, reach, add(partition, 0, reach));
  if (mixed_ + 1 + nodes_.size() > kMostSlots) nodes_.clear();
}

/// margin: exceeds the rounding of distances from `at`.
template <class T>
std::uint32_t Interior<T>::add(std::size_t axis, double at, double reach, double margin, std::uint32_t below,
                               std::uint32_t above) {
  nodes_.push_back({static_cast<std::uint32_t>(axis), below, above, rounded_down<T>(at - reach - margin),
                    rounded_up<T>(at + reach + margin)});
  return mixed_ + static_cast<std::uint32_t>(nodes_.size());
}

template <class T>
std::uint32_t Interior<T>::add(const Partition& partition, std::int32_t side, double reach) {
  if (side < 0) return static_cast<std::uint32_t>(-1 - side);
  const Partition::Cut& cut = partition.cuts()[static_cast<std::size_t>(side)];
  const std::uint32_t below = add(partition, cut.below, reach), above = add(partition, cut.above, reach);
  return add(cut.axis, cut.at, reach, kRounding * (std::abs(cut.at) + reach), below, above);
}

/// Adds nodes for the faces of a periodic box, because images of points lie outside them.
template <class T>
void Interior<T>::add_faces(const Space& space, double reach, std::uint32_t within) {
  for (std::size_t k = 0; k < space.axes.size(); ++k) {
    if (space.period(k) == 0) continue;
    const double lo = space.axes[k].lo, hi = lo + space.period(k);
    const double margin = kRounding * (std::abs(lo) + std::abs(hi) + reach);
    within = add(k, lo, reach, margin, mixed_, within);
    within = add(k, hi, reach, margin, within, mixed_);
  }
}

template <class T>
void Interior<T>::find(const T* points, std::span<std::uint16_t> parts) const {
  if (nodes_.empty()) {
    std::ranges::fill(parts, kMixed);
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(find_float)(*this, points, parts);
  } else {
    HWY_DYNAMIC_DISPATCH(find_double)(*this, points, parts);
  }
}

template class Interior<float>;
template class Interior<double>;

}  // namespace epsflow::parts
#endif
