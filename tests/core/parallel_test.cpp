#include <epsflow/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace epsflow {
namespace {

using test::error_of;

using Range = std::pair<std::size_t, std::size_t>;

/// Returns the ranges of one loop in ascending order.
std::vector<Range> ranges_of(std::size_t count, std::size_t grain) {
  // A range is recorded at its first number, which belongs to no other range.
  std::vector<std::size_t> end_of(count, 0);
  std::atomic<std::size_t> calls{0};
  std::atomic<bool> within{true};
  parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
    ++calls;
    if (begin >= end || end > count) {
      within = false;
      return;
    }
    end_of[begin] = end;
  });
  CHECK(within.load());
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    if (end_of[i] != 0) ranges.emplace_back(i, end_of[i]);
  }
  CHECK(calls.load() == ranges.size());
  return ranges;
}

TEST_CASE("parallel ranges: they are disjoint and make up all") {
  for (const std::size_t count : {0, 1, 2, 7, 1000, 100'003}) {
    for (const std::size_t grain : {1, 3, 64, 1 << 20}) {
      INFO("count: " << count << ", grain: " << grain);
      const std::vector<Range> ranges = ranges_of(count, grain);
      std::size_t next = 0;
      for (const auto& [begin, end] : ranges) {
        CHECK(begin == next);
        CHECK(end - begin >= std::min(count, grain / 2));
        next = end;
      }
      CHECK(next == count);
      // A loop that is not longer than the grain is not divided.
      CHECK((count > grain || ranges.size() == std::min<std::size_t>(count, 1)));
    }
  }
}

TEST_CASE("parallel ranges: a loop may refer to a body through another function, and begin another loop") {
  const auto rows = [](RangeBody body) { parallel_ranges(100, 8, body); };
  std::array<std::atomic<std::uint32_t>, 100> calls{};
  rows([&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      parallel_for(std::size_t{100}, [&, i](std::size_t k) {
        if (k <= i) ++calls[k];
      });
    }
  });
  for (std::size_t k = 0; k < calls.size(); ++k) CHECK(calls[k].load() == calls.size() - k);
}

TEST_CASE("parallel for: each number once, as the type of the count") {
  for (const std::uint32_t count : {0U, 1U, 5U, 5000U}) {
    INFO("count: " << count);
    std::vector<std::atomic<std::uint32_t>> calls(count);
    parallel_for(count, [&](auto i) {
      static_assert(std::is_same_v<decltype(i), std::uint32_t>);
      ++calls[i];
    });
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
  }
  std::vector<std::uint64_t> squares(3000);
  parallel_for(squares.size(), [&](std::size_t i) { squares[i] = i * i; });
  for (std::size_t i = 0; i < squares.size(); ++i) REQUIRE(squares[i] == i * i);
}

TEST_CASE("parallel tasks: each number once, in a call of its own") {
  for (const std::size_t count : {0, 1, 300}) {
    INFO("count: " << count);
    std::vector<std::atomic<std::uint32_t>> calls(count);
    std::atomic<bool> alone{true};
    parallel_tasks(count, [&](std::size_t begin, std::size_t end) {
      if (end != begin + 1) alone = false;
      ++calls[begin];
    });
    CHECK(alone.load());
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
  }
}

TEST_CASE("parallel reduce: floats add up to the same bits as one block after the other") {
  std::mt19937_64 random(7);
  std::vector<float> values(50'001);
  for (float& value : values)
    value = std::ldexp(static_cast<float>(random() >> 40), static_cast<int>(random() % 40) - 20);
  const auto add_up = [&](std::size_t begin, std::size_t end, float sum) {
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    return sum;
  };
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, values.size()}) {
    for (const std::size_t grain : {1, 64, 1000, 1 << 20}) {
      INFO("count: " << count << ", grain: " << grain);
      float expected = 0;
      for (std::size_t begin = 0; begin < count; begin += grain) {
        expected += add_up(begin, std::min(count, begin + grain), 0);
      }
      for (int again = 0; again < 5; ++again) {
        const float sum = parallel_reduce(count, grain, 0.0F, add_up, std::plus<>());
        CHECK(std::bit_cast<std::uint32_t>(sum) == std::bit_cast<std::uint32_t>(expected));
      }
    }
  }
}

TEST_CASE("parallel reduce: of nothing it is the identity, and blocks are joined in ascending order") {
  const auto never = [](std::size_t, std::size_t, double) -> double { throw Error("there is nothing to add up"); };
  const double lowest = -std::numeric_limits<double>::infinity();
  CHECK(parallel_reduce(0, 16, lowest, never, [](double a, double b) { return std::max(a, b); }) == lowest);

  const std::string text = parallel_reduce(
      26, 4, std::string(),
      [](std::size_t begin, std::size_t end, std::string part) {
        for (std::size_t i = begin; i < end; ++i) part += static_cast<char>('a' + i);
        return part + ' ';
      },
      [](std::string a, const std::string& b) { return std::move(a) + b; });
  CHECK(text == "abcd efgh ijkl mnop qrst uvwx yz ");
}

TEST_CASE("parallel loops: what a body throws comes out") {
  const auto fail_at = [](std::size_t failing, std::size_t begin, std::size_t end) {
    if (begin <= failing && failing < end) throw InputError("number " + std::to_string(failing));
  };
  for (const std::size_t failing : {0, 1, 500, 999}) {
    const std::string expected = "number " + std::to_string(failing);
    const auto body = [&](std::size_t begin, std::size_t end) { fail_at(failing, begin, end); };
    CHECK(error_of<InputError>([&] { parallel_ranges(1000, 16, body); }) == expected);
    CHECK(error_of<InputError>([&] { parallel_tasks(1000, body); }) == expected);
    CHECK(error_of<InputError>([&] {
            parallel_for(std::uint32_t{1000}, [&](std::uint32_t i) { fail_at(failing, i, std::size_t{i} + 1); });
          }) == expected);
    CHECK(error_of<InputError>([&] {
            (void)parallel_reduce(
                1000, 16, 0,
                [&](std::size_t begin, std::size_t end, int sum) {
                  fail_at(failing, begin, end);
                  return sum;
                },
                std::plus<>());
          }) == expected);
  }
}

TEST_CASE("parallel sort: ascending, in place") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {0, 1, 2, 1000, 200'000}) {
    INFO("count: " << count);
    std::vector<std::uint64_t> integers(count);
    std::vector<double> reals(count);
    for (std::size_t i = 0; i < count; ++i) {
      integers[i] = i % 3 == 0 ? random() % 10 : random();
      reals[i] = static_cast<double>(static_cast<std::int64_t>(random())) * (i % 2 == 0 ? 0x1p-60 : 1);
    }
    if (count > 2) {
      integers[0] = std::numeric_limits<std::uint64_t>::max();
      reals[0] = std::numeric_limits<double>::infinity();
      reals[1] = -std::numeric_limits<double>::infinity();
      reals[2] = 0;
    }
    std::vector<std::uint64_t> sorted_integers = integers;
    std::vector<double> sorted_reals = reals;
    std::sort(sorted_integers.begin(), sorted_integers.end());
    std::sort(sorted_reals.begin(), sorted_reals.end());
    parallel_sort(integers);
    parallel_sort(reals);
    CHECK((integers == sorted_integers));
    CHECK((reals == sorted_reals));
  }
  // If only a part is given, only that part is sorted.
  std::vector<double> some{5, 4, 3, 2, 1};
  parallel_sort(std::span(some).subspan(1, 3));
  CHECK(some == std::vector<double>{5, 2, 3, 4, 1});
}

}  // namespace
}  // namespace epsflow
