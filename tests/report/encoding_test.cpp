#include <epsflow/report/encoding.hpp>

#include <random>
#include <string>

#include "support/catch.hpp"

namespace epsflow::report {
namespace {

/// Unpacks bytes as page.js does.
Bytes unpack(const Bytes& packed) {
  Bytes values;
  for (std::size_t i = 0; i < packed.size();) {
    const std::size_t control = packed[i++];
    if (control < 128) {
      for (std::size_t k = 0; k <= control; ++k) values.push_back(packed[i++]);
    } else {
      values.insert(values.end(), control - 126, packed[i++]);
    }
  }
  return values;
}

std::vector<std::uint32_t> unpack_set(const Bytes& packed) {
  std::vector<std::uint32_t> members;
  std::uint64_t member = 0;
  std::size_t at = 0;
  const auto next = [&] {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      number |= std::uint64_t{packed[at] & 127U} << shift;
      if (packed[at++] < 128) return number;
    }
  };
  while (at < packed.size()) {
    member += next();
    for (std::uint64_t run = next(); run > 0; --run) members.push_back(static_cast<std::uint32_t>(member++));
  }
  return members;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST_CASE("packed runs come back as they were, and are hardly longer at worst") {
  std::mt19937 random(1);
  for (const std::size_t n : {0U, 1U, 2U, 3U, 128U, 129U, 130U, 1000U, 5000U}) {
    for (const unsigned kinds : {1U, 2U, 3U, 200U}) {
      Bytes values(n);
      for (std::size_t i = 0; i < n; ++i) {
        values[i] =
            i > 0 && random() % 3 > 0 && kinds < 100 ? values[i - 1] : static_cast<std::uint8_t>(random() % kinds);
      }
      INFO(n << " values of " << kinds);
      const Bytes packed = pack(values);
      CHECK(unpack(packed) == values);
      CHECK(packed.size() <= n + n / 128 + 1);
    }
  }
  CHECK(pack(Bytes(100000, 7)).size() < 2000);
}

TEST_CASE("packed sets come back as they were") {
  std::mt19937 random(2);
  for (const unsigned gap : {1U, 2U, 300U, 100000U}) {
    std::uniform_int_distribution<std::uint32_t> further(1, gap);
    std::vector<std::uint32_t> members{further(random) - 1};
    while (members.size() < 500) members.push_back(members.back() + further(random));
    CHECK(unpack_set(pack_set(members)) == members);
  }
  CHECK(pack_set({}).empty());
}

TEST_CASE("base64 is that of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> known{{"", ""},
                                                               {"f", "Zg=="},
                                                               {"fo", "Zm8="},
                                                               {"foo", "Zm9v"},
                                                               {"foob", "Zm9vYg=="},
                                                               {"fooba", "Zm9vYmE="},
                                                               {"foobar", "Zm9vYmFy"},
                                                               {"\xFF\xFE\xFD", "//79"}};
  for (const auto& [bytes, text] : known) {
    CHECK(base64(bytes_of(bytes)) == text);
    CHECK(text.size() == (bytes.size() + 2) / 3 * 4);
  }
}

TEST_CASE("no text of JSON ends the script that it stands in") {
  CHECK(json_in_html(R"({"a":"</script><!--"})") == R"({"a":"\u003c/script>\u003c!--"})");
}

}  // namespace
}  // namespace epsflow::report
