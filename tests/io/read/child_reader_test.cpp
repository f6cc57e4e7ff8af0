#include <epsflow/io/read/child_reader.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "io/io_test.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/library_file.hpp>

namespace epsflow::io::test {
namespace {

/// Sets EPSFLOW_READER and restores its old value at the end.
class ReaderNamed {
 public:
  explicit ReaderNamed(const std::string& program = EPSFLOW_ODD_READER) {
    if (const char* const before = std::getenv(kVariable)) before_ = before;
    ::setenv(kVariable, program.c_str(), 1);
  }
  ~ReaderNamed() { ::setenv(kVariable, before_.c_str(), 1); }
  ReaderNamed(const ReaderNamed&) = delete;
  ReaderNamed& operator=(const ReaderNamed&) = delete;

 private:
  static constexpr const char* kVariable = "EPSFLOW_READER";
  std::string before_;
};

/// Returns the output of a parser of odd_reader.cpp. Most parsers ignore the file.
FilePoints read(std::string_view parser, const ReadOptions& options = {},
                std::chrono::seconds patience = std::chrono::seconds(60)) {
  const Format format{.name = parser, .reader = {.library = "libtest"}};
  const Source source{.name = "x.dat", .options = options};
  PointsBuilder points(source);
  read_in_child(format, {.path = "x.dat"}, source, points, patience);
  return points.take();
}

template <class E>
std::string error_of_child(std::string_view parser, const ReadOptions& options = {}) {
  return error_of<E>([&] { static_cast<void>(read(parser, options)); });
}

/// Returns true if this process has no child left, running or ended.
bool has_no_child() { return ::waitpid(-1, nullptr, WNOHANG) == -1; }

}  // namespace

TEST_CASE("child reader: rows and coordinates arrive in place, with names and kind") {
  const ReaderNamed odd;
  const FilePoints points = read("rows");
  CHECK(values_of(points) == Values{7, 8, 1, 2, 3, 4});
  CHECK(points.column_names == std::vector<std::string>{"x", "y"});
  CHECK(points.column_numbers == std::vector<std::size_t>{2, 3});
  REQUIRE(points.inputs.size() == 1);
  CHECK(points.inputs[0].kind == "test rows");
  CHECK(points.inputs[0].name == "x.dat");
  CHECK(has_no_child());
}

TEST_CASE("child reader: more values than a pipe holds, in both precisions") {
  const ReaderNamed odd;
  const FilePoints points = read("many singles");
  CHECK(points.precision() == Precision::float32);
  check_rows(points, 1'000'003, [](auto i) { return Values(2, static_cast<float>(i)); });
}

TEST_CASE("child reader: what is thrown there is thrown here") {
  const ReaderNamed odd;
  CHECK(error_of_child<UsageError>("usage error") == "thrown");
  CHECK(error_of_child<InputError>("input error") == "thrown");
  CHECK(error_of_child<ResourceError>("resource error") == "thrown");
  CHECK(error_of_child<Error>("other error") == "thrown");
  check_mentions(error_of_child<ResourceError>("no memory"), {"not enough memory"});
  // The error may also come after values.
  CHECK(error_of_child<InputError>("late error") == "late");
}

TEST_CASE("child reader: the budget holds, what the reader takes included") {
  const ReaderNamed odd;
  CHECK(read("takes memory", {.memory = 101}).size() == 10);
  check_mentions(error_of_child<ResourceError>("takes memory", {.memory = 100}), {"x.dat", "10 points"});
  CHECK(has_no_child());
}

TEST_CASE("child reader: a crash is an input error, wherever it happens") {
  const ReaderNamed odd;
  for (const char* how : {"SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "exit", "late SIGSEGV", "late SIGBUS"}) {
    CAPTURE(how);
    check_mentions(error_of_child<InputError>(how), {"x.dat: damaged: libtest crashed on it", "fetch the file again"});
    CHECK(has_no_child());
  }
  check_mentions(error_of_child<InputError>("SIGABRT"), {"Aborted"});
  // Nothing in the child raises this signal: memory has run out, or a user killed the child.
  check_mentions(error_of_child<ResourceError>("SIGKILL"), {"x.dat", "killed", "memory"});
}

TEST_CASE("child reader: values that cannot be are refused") {
  const ReaderNamed odd;
  for (const char* what : {"beyond", "far beyond", "half a row", "long coordinate", "third coordinate", "nothing",
                           "second shape", "no shape", "no pieces", "endless box", "negative box", "a table"}) {
    CAPTURE(what);
    check_mentions(error_of_child<InputError>("wrong: " + std::string(what)), {"x.dat: damaged"});
  }
  const FilePoints right = read("box");
  CHECK(right.box == Values{5});
  CHECK(right.inputs[0].pieces == 2);
  CHECK(has_no_child());
}

TEST_CASE("child reader: tables of neighbours") {
  const ReaderNamed odd;
  ReadOptions options{.memory = 33};  // includes the memory that the reader takes
  const auto read_table = [&](const std::string& how) {
    const Format format{.name = how, .reader = {.library = "libtest"}};
    const Source source{.name = "x.dat", .options = options};
    NeighborsBuilder table(source);
    read_in_child(format, {.path = "x.dat"}, source, table);
    return table.take();
  };
  const FileNeighbors table = read_table("table");
  CHECK(std::ranges::equal(table.offsets, std::vector<std::uint64_t>{0, 1, 2}));
  CHECK(std::ranges::equal(table.ids, std::vector<std::uint32_t>{0, 1}));
  CHECK(table.distances.empty());
  CHECK(table.eps == 0.5);
  options.memory = 32;
  check_error<ResourceError>({"x.dat", "ReadOptions::memory"}, [&] { (void)read_table("table"); });
  options.memory = 33;
  check_error<InputError>({"x.dat: damaged: libtest crashed"}, [&] { (void)read_table("table SIGSEGV"); });
  CHECK(error_of<InputError>([&] { (void)read_table("table error"); }) == "thrown");
  for (const char* what : {"nothing", "no ids", "no shape", "second shape", "beyond", "far beyond", "half a value",
                           "distances", "fourth array", "twice", "points"}) {
    CAPTURE(what);
    check_error<InputError>({"x.dat: damaged"}, [&] { (void)read_table("wrong table: " + std::string(what)); });
  }
  CHECK(has_no_child());
}

TEST_CASE("child reader: a step without an end is ended") {
  const ReaderNamed odd;
  const std::string error =
      error_of<InputError>([&] { static_cast<void>(read("no end", {}, std::chrono::seconds(1))); });
  check_mentions(error, {"x.dat: damaged: libtest did not get on with it for 1 s"});
  CHECK(has_no_child());
}

TEST_CASE("child reader: what this process does with signals is not passed on") {
  const ReaderNamed odd;
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  REQUIRE(::sigaction(SIGABRT, &ignored, &before) == 0);
  check_mentions(error_of_child<InputError>("SIGABRT"), {"libtest crashed on it", "Aborted"});
  CHECK(::sigaction(SIGABRT, &before, nullptr) == 0);
}

TEST_CASE("child reader: signals to the group of this process do not reach it, and one that ends it is no damage") {
  const ReaderNamed odd;
  CHECK(values_of(read("group")) == Values{1});
  check_mentions(error_of_child<ResourceError>("SIGTERM"), {"x.dat", "ended", "read it again"});
}

TEST_CASE("child reader: columns are chosen here, by the names that are found there") {
  const ReaderNamed odd;
  std::vector<std::string> seen;
  const FilePoints points = read("chosen", {.choose = [&](const std::vector<std::string>& names) {
                                   seen = names;
                                   return std::vector<std::size_t>{2, 1};
                                 }});
  CHECK(seen == std::vector<std::string>{"name", "dec", "ra"});
  CHECK(values_of(points) == Values{2, 1});
  CHECK(points.column_names == std::vector<std::string>{"ra", "dec"});
  CHECK(read("chosen").column_names == std::vector<std::string>{"nobody"});
  const auto refuse = [](const std::vector<std::string>&) -> std::vector<std::size_t> { throw UsageError("which?"); };
  check_mentions(error_of_child<UsageError>("chosen", {.choose = refuse}), {"which?"});
  // It waits for numbers that do not come.
  const auto first = [](const std::vector<std::string>&) { return std::vector<std::size_t>{0}; };
  check_mentions(error_of_child<InputError>("wrong: late names", {.choose = first}), {"x.dat: damaged"});
  CHECK(has_no_child());
}

TEST_CASE("child reader: several threads read at once") {
  const ReaderNamed odd;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&right] {
      for (int round = 0; round < 5; ++round) right += values_of(read("rows")) == Values{7, 8, 1, 2, 3, 4} ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 20);
  CHECK(has_no_child());
}

TEST_CASE("child reader: what came through a pipe lies in memory, and the options arrive") {
  const ReaderNamed odd;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "abc", 3) == 3);
  ::close(ends[1]);
  const ReadOptions options{.columns = {"u", "v"}, .table = "a table", .memory = 60};
  const Source source{.name = "x.dat", .options = options};
  const std::unique_ptr<ByteStream> stream = open_stream("/dev/fd/" + std::to_string(ends[0]));
  const LibraryFile file = library_file(*stream, source);
  ::close(ends[0]);
  CHECK(file.size == 3);
  CHECK(file.memory_taken == 3);
  PointsBuilder builder(source);
  read_in_child({.name = "bytes of file", .reader = {.library = "libtest"}}, file, source, builder);
  const FilePoints points = builder.take();
  CHECK(values_of(points) == Values{97, 97, 98, 98, 99, 99});
  CHECK(points.column_names == options.columns);
  CHECK(points.inputs[0].kind == "a table");
}

TEST_CASE("child reader: a missing reader is an error that says where it was searched") {
  {
    const ReaderNamed missing("/nowhere/epsflow-reader");
    check_mentions(error_of_child<ResourceError>("rows"), {"EPSFLOW_READER", "/nowhere/epsflow-reader"});
  }
  for (const char* other : {"/bin/true", "/bin/false"}) {
    const ReaderNamed another(other);
    check_mentions(error_of_child<ResourceError>("rows"),
                   {other, "does not start, or is of another version", "EPSFLOW_READER"});
  }
  const TempFolder folder;
  {
    const ReaderNamed a_folder((folder / "").string());
    check_mentions(error_of_child<ResourceError>("rows"), {"EPSFLOW_READER", "is no program"});
  }
  const ReaderNamed unnamed("");
  CHECK(find_reader().filename() == "epsflow-reader");
}

}  // namespace epsflow::io::test
