// Parallel loops, reductions and sorts. The scheduler is oneTBB, in core/parallel.cpp alone: a caller compiles no
// template of oneTBB, and its body is called through a pointer once for each range of numbers, not once for each
// number. All functions run on the threads of the task arena that calls them, and return when all calls have returned.
// If a body throws, calls that have not begun are dropped, and the first exception is thrown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace epsflow {

/// Refers to a callable as void(begin, end), which must outlive it.
class RangeBody {
 public:
  template <class Body, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<Body>, RangeBody>>>
  RangeBody(Body&& body) noexcept  // NOLINT: converts from any callable, as parameters of functions are
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, std::size_t begin, std::size_t end) {
          (*static_cast<std::remove_reference_t<Body>*>(object))(begin, end);
        }) {}

  void operator()(std::size_t begin, std::size_t end) const { call_(body_, begin, end); }

 private:
  void* body_;
  void (*call_)(void*, std::size_t, std::size_t);
};

/// Calls body(begin, end) for disjoint ranges that make up [0, count), in any order. A range has at least grain / 2
/// numbers, if there are as many, and more if the threads are busy.
void parallel_ranges(std::size_t count, std::size_t grain, RangeBody body);

/// Calls body(i) for each i in [0, count), in any order. For calls of a microsecond or more; else parallel_ranges().
template <class Index, class Body>
void parallel_for(Index count, Body&& body) {
  parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(static_cast<Index>(i));
  });
}

/// Calls body(i, i + 1) for each i in [0, count), in any order. Each call is a task of its own.
void parallel_tasks(std::size_t count, RangeBody body);

/// Joins the results of body(begin, end, identity) for blocks of `grain` numbers that make up [0, count): calls
/// join(result so far, next result) in ascending order. So the result, rounding included, does not depend on the
/// threads. Allocates one Value for each block.
template <class Value, class Body, class Join>
Value parallel_reduce(std::size_t count, std::size_t grain, const Value& identity, Body&& body, Join&& join) {
  static_assert(!std::is_same_v<Value, bool>, "several of std::vector<bool> share a byte");
  std::vector<Value> values((count + grain - 1) / grain, identity);
  parallel_for(values.size(), [&](std::size_t b) {
    values[b] = body(b * grain, std::min(count, (b + 1) * grain), std::move(values[b]));
  });
  Value result = identity;
  for (Value& value : values) result = join(std::move(result), std::move(value));
  return result;
}

/// Sorts in ascending order, in place. Not stable. Doubles must not be NaN.
void parallel_sort(std::span<double> values);
void parallel_sort(std::span<std::uint64_t> values);

}  // namespace epsflow
