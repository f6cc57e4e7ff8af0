#include <epsflow/io/read/byte_stream.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <epsflow/io/read/library_file.hpp>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::check_error;
using test::gzip;
using test::TempFolder;

std::string all_of(ByteStream& stream) {
  std::string bytes;
  std::array<char, 10000> block{};
  for (std::size_t got = block.size(); got == block.size();) {
    got = stream.read(block);
    bytes.append(block.data(), got);
  }
  return bytes;
}

/// The bytes that library_file() holds in memory.
std::string held_bytes(ByteStream& stream, std::uint64_t memory) {
  const ReadOptions options{.memory = memory};
  const LibraryFile file = library_file(stream, {.name = "stars.csv", .options = options});
  CHECK(file.memory_taken == file.size);
  return all_of(*open_stream(file.path));
}

std::string inflate(std::string_view packed) { return all_of(*stream_of(packed, "stars.csv.gz")); }

std::string many_numbers() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

TEST_CASE("byte stream: reads and looks ahead in any order") {
  const std::string text = many_numbers();
  for (const std::string& bytes : {text, gzip(text)}) {
    const auto stream = stream_of(bytes, "stars.csv");
    std::string got(10, '\0');
    CHECK(stream->read(got) == 10);
    CHECK(got == text.substr(0, 10));
    const std::span<const char> ahead = stream->peek();
    REQUIRE(ahead.size() == ByteStream::kPeekBytes);
    CHECK(std::string_view(ahead.data(), ahead.size()) == std::string_view(text).substr(10, ahead.size()));
    std::string more(5000, '\0');
    CHECK(stream->read(more) == 5000);
    CHECK(more == text.substr(10, 5000));
    CHECK(all_of(*stream) == text.substr(5010));
    CHECK(stream->peek().empty());
    CHECK(stream->read(more) == 0);
  }
  const std::string_view short_text = "1,2\n";
  const auto stream = stream_of(short_text, "stars.csv");
  CHECK(stream->peek().size() == 4);
  CHECK(stream->peek().size() == 4);
  CHECK(all_of(*stream) == short_text);
}

TEST_CASE("byte stream: what is known of a file beforehand") {
  const TempFolder folder;
  const auto plain = folder.write("a.csv", "1,2\n");
  const auto opened = open_stream(plain);
  CHECK(opened->size() == 4);
  CHECK_FALSE(opened->is_gzip());
  REQUIRE(opened->regular_file() != nullptr);
  CHECK(*opened->regular_file() == plain);
  CHECK(all_of(*opened) == "1,2\n");

  const auto packed = folder.write("a.gz", gzip("1,2\n"));
  CHECK(open_stream(packed)->is_gzip());
  CHECK_FALSE(open_stream(packed)->size().has_value());
  CHECK(open_stream(packed)->regular_file() == nullptr);
  CHECK(all_of(*open_stream(packed)) == "1,2\n");
  CHECK(all_of(*open_stream(packed, Unpack::nothing)) == gzip("1,2\n"));

  CHECK(open_stream("/dev/null")->regular_file() == nullptr);
  CHECK(all_of(*open_stream("/dev/null")).empty());
  CHECK(all_of(*open_stream(folder.write("empty", ""))).empty());
  // Files that the kernel generates report a size of 0.
  CHECK_FALSE(all_of(*open_stream("/proc/self/status")).empty());
}

TEST_CASE("byte stream: a file that is shortened while it is read is an error, and one that grows ends where it did") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", std::string(100000, '1'));
  const auto shortened = open_stream(file);
  std::string some(10, '\0');
  CHECK(shortened->read(some) == 10);
  std::filesystem::resize_file(file, 50000);
  check_error<InputError>({"a.csv", "was shortened while it was read"}, [&] { (void)all_of(*shortened); });
  const auto grown = open_stream(file);
  std::filesystem::resize_file(file, 60000);
  CHECK(all_of(*grown).size() == 50000);
}

TEST_CASE("byte stream: named pipes, plain and gzipped") {
  const TempFolder folder;
  const std::string text = many_numbers();
  for (const std::string& bytes : {text, gzip(text)}) {
    const auto pipe = folder / "pipe";
    test::feed_pipe(folder.write("file", bytes), pipe);
    const auto stream = open_stream(pipe);
    CHECK(stream->regular_file() == nullptr);
    CHECK_FALSE(stream->size().has_value());
    CHECK(all_of(*stream) == text);
    std::filesystem::remove(pipe);
  }
}

TEST_CASE("byte stream: standard input, from where it stands") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "skipped\n1,2\n");
  const int before = ::dup(STDIN_FILENO);
  REQUIRE(::freopen(file.c_str(), "rb", stdin) != nullptr);
  REQUIRE(::lseek(STDIN_FILENO, 8, SEEK_SET) == 8);
  const auto stream = open_stream("-");
  CHECK(stream->size() == 4);
  CHECK(stream->regular_file() == nullptr);
  CHECK(all_of(*stream) == "1,2\n");
  CHECK(display_name("-") == "standard input");
  REQUIRE(::dup2(before, STDIN_FILENO) == STDIN_FILENO);
  ::close(before);
}

TEST_CASE("byte stream: bytes held in memory keep the budget") {
  const std::string text = many_numbers();
  for (const std::string& bytes : {text, gzip(text)}) {
    CHECK(held_bytes(*stream_of(bytes, "a"), text.size()) == text);
    check_error<ResourceError>({"stars.csv", "ReadOptions::memory"},
                               [&] { held_bytes(*stream_of(bytes, "a"), text.size() - 1); });
  }
  check_error<ResourceError>({"stars.csv", "3.0 MiB", "ReadOptions::memory"},
                             [&] { held_bytes(*open_stream("/dev/zero"), 3 << 20); });
  const std::string command = held_bytes(*open_stream("/proc/self/cmdline"), 1 << 20);  // a file of size 0
  CHECK(command == all_of(*open_stream("/proc/self/cmdline")));
}

TEST_CASE("byte stream: gzip members, padding, damage") {
  const std::string text = many_numbers();
  const std::string packed = gzip(text);
  CHECK(inflate(packed) == text);
  CHECK(inflate(packed + gzip("1,2\n") + packed) == text + "1,2\n" + text);
  CHECK(inflate(packed + gzip("") + gzip("1")) == text + "1");
  CHECK(inflate(packed + std::string(1 << 18, '\0')) == text);
  CHECK(inflate(gzip("")).empty());
  for (const std::size_t lost : {std::size_t{1}, std::size_t{3}, packed.size() / 2, packed.size() - 2}) {
    check_error<InputError>({"stars.csv.gz", "truncated gzip"},
                            [&] { inflate(packed.substr(0, packed.size() - lost)); });
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  check_error<InputError>({"stars.csv.gz", "damaged"}, [&] { inflate(damaged); });
  check_error<InputError>({"stars.csv.gz", "damaged"}, [&] { inflate(packed + "junk"); });
  check_error<InputError>({"stars.csv.gz", "damaged", "padding"},
                          [&] { inflate(packed + std::string(9, '\0') + packed); });
}

TEST_CASE("byte stream: another process finds a regular file from its beginning, or is given no path") {
  const TempFolder folder;
  const auto file = folder.write("x.dat", "abc");
  const int descriptor = ::open(file.c_str(), O_RDONLY);
  const std::string by_descriptor = "/dev/fd/" + std::to_string(descriptor);
  const auto path_of = [](const std::filesystem::path& opened) {
    const auto stream = open_stream(opened);
    return stream->regular_file() == nullptr ? std::filesystem::path() : *stream->regular_file();
  };
  CHECK(path_of(file) == std::filesystem::canonical(file));
  CHECK(path_of(by_descriptor) == std::filesystem::canonical(file));
  std::filesystem::remove(file);
  CHECK(path_of(by_descriptor).empty());
  static_cast<void>(folder.write("x.dat", "abc"));  // another file takes the name
  CHECK(path_of(by_descriptor).empty());
  ::close(descriptor);
}

}  // namespace
}  // namespace epsflow::io
