// Makes damaged copies of a file for its reader: truncations and single flipped bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "support/catch.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::test {

/// Returns the result of `read`, or nothing if it throws an epsflow::Error with a text. Fails on other exceptions.
template <class Read>
auto read_damaged(Read& read, const std::string& bytes) -> std::optional<decltype(read(bytes))> {
  try {
    return read(bytes);
  } catch (const Error& error) {
    CHECK_FALSE(std::string_view(error.what()).empty());
  } catch (const std::exception& error) {
    FAIL_CHECK("an exception that is none of epsflow's: " << error.what());
  }
  return std::nullopt;
}

/// Reads `bytes` cut off at every `step`-th byte, from 0 on. If a cut is read, judge(result, cut bytes) must return
/// true if the result is right for the bytes that remain. Returns the number of cuts that were read.
template <class Read, class Judge>
std::size_t truncate_everywhere(const std::string& bytes, Read read, Judge judge, std::size_t step = 97) {
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < bytes.size(); length += step) {
    const std::string cut = bytes.substr(0, length);
    if (const auto made = read_damaged(read, cut)) {
      INFO("cut off at byte " << length << " of " << bytes.size());
      CHECK(judge(*made, cut));
      ++accepted;
    }
  }
  return accepted;
}

/// Reads `bytes` once for every `per` bits, with one bit of them flipped at a position drawn from the seed. If damaged
/// bytes are read, judge(result, damaged bytes) must return true. Returns how many were read.
template <class Read, class Judge>
std::size_t flip_bits(const std::string& bytes, Read read, Judge judge, std::size_t per = 1000,
                      std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::size_t accepted = 0;
  for (std::size_t first = 0; first < bytes.size() * 8; first += per) {
    const std::size_t bit = first + random() % std::min(per, bytes.size() * 8 - first);
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    if (const auto made = read_damaged(read, damaged)) {
      INFO("bit " << bit % 8 << " of byte " << bit / 8 << " of " << bytes.size() << " flipped, seed " << seed);
      CHECK(judge(*made, damaged));
      ++accepted;
    }
  }
  return accepted;
}

}  // namespace epsflow::test
