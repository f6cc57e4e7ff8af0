#include <epsflow/io/read/text/text_blocks.hpp>

#include <string>
#include <string_view>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::gzip;

std::string view(std::span<const char> text) { return {text.begin(), text.end()}; }

TEST_CASE("text blocks: what is not used stands before the next block") {
  const std::string text = "one\ntwo\nthree\nfour";
  for (const std::string& bytes : {text, gzip(text)}) {
    const auto stream = stream_of(bytes, "a");
    TextBlocks blocks(*stream, 6);
    CHECK(view(blocks.text()) == "one\ntw");
    CHECK(view(blocks.whole_lines()) == "one\n");
    CHECK_FALSE(blocks.is_last());
    blocks.use(4);
    REQUIRE(blocks.read_on());
    CHECK(view(blocks.text()) == "two\nthre");
    CHECK(view(blocks.whole_lines()) == "two\n");
    blocks.use(4);
    REQUIRE(blocks.read_on());
    CHECK(view(blocks.text()) == "three\nfour");
    if (!blocks.is_last()) {
      REQUIRE(blocks.read_on() == false);
      blocks.use(6);
      REQUIRE(blocks.read_on());
    }
    CHECK(blocks.is_last());
    CHECK(view(blocks.whole_lines()) == view(blocks.text()));
  }
}

TEST_CASE("text blocks: a line that is longer than a block") {
  const auto stream = stream_of(std::string_view("0123456789abcdefghij\n"), "a");
  TextBlocks blocks(*stream, 6);
  CHECK(blocks.whole_lines().empty());
  REQUIRE(blocks.read_on());
  CHECK(view(blocks.text()) == "0123456789ab");
  CHECK_FALSE(blocks.read_on());
}

TEST_CASE("text blocks: lone carriage returns are line ends where the first one is") {
  const auto lone = stream_of(std::string_view("a\rb\rc\r\nd\r"), "a");
  TextBlocks old(*lone, 100);
  CHECK(view(old.text()) == "a\nb\nc\r\nd\n");
  const auto usual = stream_of(std::string_view("a\r\nb\rc\n"), "a");
  TextBlocks blocks(*usual, 100);
  CHECK(view(blocks.text()) == "a\r\nb\rc\n");
}

}  // namespace
}  // namespace epsflow::io
