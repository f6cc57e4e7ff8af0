#include <epsflow/parts/find_equal.hpp>

#include <epsflow/index/instruction_sets.hpp>
// These lines must precede all headers of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "epsflow/parts/find_equal.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace epsflow::parts {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

std::size_t find_indices(std::span<const std::uint16_t> values, std::uint16_t wanted, std::uint16_t* indices) {
  const hn::ScalableTag<std::uint16_t> tag;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<std::uint16_t>());
  static_assert(kLanes <= kFoundBeyond);
  const auto equal = hn::Set(tag, wanted);
  const auto step = hn::Set(tag, static_cast<std::uint16_t>(kLanes));
  auto at = hn::Iota(tag, std::uint16_t{0});
  std::size_t found = 0, i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    found += hn::CompressStore(at, hn::Eq(hn::LoadU(tag, values.data() + i), equal), tag, indices + found);
    at = hn::Add(at, step);
  }
  for (; i < values.size(); ++i) {
    indices[found] = static_cast<std::uint16_t>(i);
    found += values[i] == wanted ? 1 : 0;
  }
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace epsflow::parts
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::parts {
namespace {
HWY_EXPORT(find_indices);
}

std::size_t find_equal(std::span<const std::uint16_t> values, std::uint16_t wanted, std::uint16_t* indices) {
  return HWY_DYNAMIC_DISPATCH(find_indices)(values, wanted, indices);
}

}  // namespace epsflow::parts
#endif
