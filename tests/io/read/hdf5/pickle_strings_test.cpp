#include <epsflow/io/read/hdf5/pickle_strings.hpp>

#include <string>
#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using Strings = std::vector<std::string>;
using namespace std::string_literals;

TEST_CASE("pickle: lists of texts in every protocol") {
  const Strings expected{"x", "gr\xc3\xb6\xc3\x9f\x65", "\xe2\x82\xac"};
  // As pickle.dumps(["x", "größe", "€"], protocol) writes them.
  const std::vector<std::string> pickles{
      "(lp0\nVx\np1\naVgr\xf6\xdf\x65\np2\naV\\u20ac\np3\na."s,
      "]q\0(X\1\0\0\0xq\1X\7\0\0\0gr\xc3\xb6\xc3\x9f\x65q\2X\3\0\0\0\xe2\x82\xacq\3e."s,
      "\x80\2]q\0(X\1\0\0\0xq\1X\7\0\0\0gr\xc3\xb6\xc3\x9f\x65q\2X\3\0\0\0\xe2\x82\xacq\3e."s,
      "\x80\4\x95\x19\0\0\0\0\0\0\0]\x94(\x8c\1x\x94\x8c\7gr\xc3\xb6\xc3\x9f\x65\x94\x8c\3\xe2\x82\xac\x94\x65."s,
  };
  for (const std::string& pickle : pickles) {
    const auto strings = read_pickled_strings(pickle);
    REQUIRE(strings.has_value());
    CHECK(*strings == expected);
  }
}

TEST_CASE("pickle: whole numbers and tuples") {
  CHECK(read_pickled_strings("(lp0\n(I1\n(lp1\nVx\np2\naI20\natp4\na.") == Strings{"1", "x", "20"});
  CHECK(read_pickled_strings("]q\0(K\7M\0\1J\xff\xff\xff\xff\x65."s) == Strings{"7", "256", "-1"});
}

TEST_CASE("pickle: what asks for more than texts, or ends early, gives nothing") {
  const std::string whole = "\x80\2]q\0(X\1\0\0\0xq\1X\1\0\0\0yq\2e."s;
  REQUIRE(read_pickled_strings(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(read_pickled_strings(whole.substr(0, size)));
  for (const char* pickle :
       {"cos\nsystem\n(S'true'\ntR.", "cbuiltins\nlist\n.", "N.", "(lp0\nV\\u20\na.", "(lp0\nh\1a."}) {
    CAPTURE(pickle);
    CHECK_FALSE(read_pickled_strings(pickle));
  }
}

}  // namespace
}  // namespace epsflow::io
