#include <epsflow/io/read/child_reader.hpp>

#include <atomic>
#include <csignal>
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

using Values = std::vector<double>;

PointsShape shape_of(std::uint64_t rows, std::vector<std::string> names) {
  PointsShape shape{.rows = rows, .kind = "test rows"};
  for (std::size_t k = 0; k < names.size(); ++k) shape.columns.push_back({k + 2, 0, names[k]});
  return shape;
}

FilePoints read(const std::function<void(PointsSink&)>& reader, const ReadOptions& options = {}) {
  return read_in_child({.name = "x.dat", .options = options}, "libtest", reader);
}

template <class E>
std::string error_of_child(const std::function<void(PointsSink&)>& reader, const ReadOptions& options = {}) {
  return error_of<E>([&] { static_cast<void>(read(reader, options)); });
}

/// No child of this process is left, dead or alive.
bool has_no_child() { return ::waitpid(-1, nullptr, WNOHANG) == -1; }

}  // namespace

TEST_CASE("child reader: rows and coordinates arrive in place, with names and kind") {
  const FilePoints points = read([](PointsSink& sink) {
    sink.begin(shape_of(3, {"x", "y"}));
    const Values rows{1, 2, 3, 4};
    sink.put_rows(1, std::span<const double>(rows));
    const Values x{7};
    const Values y{8};
    sink.put_coordinate(0, 1, std::span<const double>(y));
    sink.put_coordinate(0, 0, std::span<const double>(x));
  });
  CHECK(values_of(points) == Values{7, 8, 1, 2, 3, 4});
  CHECK(points.column_names == std::vector<std::string>{"x", "y"});
  CHECK(points.column_numbers == std::vector<std::size_t>{2, 3});
  REQUIRE(points.inputs.size() == 1);
  CHECK(points.inputs[0].kind == "test rows");
  CHECK(points.inputs[0].name == "x.dat");
  CHECK(has_no_child());
}

TEST_CASE("child reader: more values than a pipe holds, in both precisions") {
  constexpr std::size_t kRows = 1'000'003;
  std::vector<float> column(kRows);
  for (std::size_t i = 0; i < kRows; ++i) column[i] = static_cast<float>(i);
  const FilePoints points = read([&](PointsSink& sink) {
    PointsShape shape = shape_of(kRows, {"x", "y"});
    shape.precision = Precision::float32;
    sink.begin(shape);
    sink.put_coordinate(0, 0, std::span<const float>(column));
    sink.put_coordinate(0, 1, std::span<const float>(column));
  });
  REQUIRE(points.size() == kRows);
  bool same = true;
  for (std::size_t i = 0; i < kRows; ++i)
    same = same && points.view().at(i, 0) == column[i] && points.view().at(i, 1) == column[i];
  CHECK(same);
}

TEST_CASE("child reader: what is thrown there is thrown here") {
  CHECK(error_of_child<UsageError>([](PointsSink&) { throw UsageError("u"); }) == "u");
  CHECK(error_of_child<InputError>([](PointsSink&) { throw InputError("i"); }) == "i");
  CHECK(error_of_child<ResourceError>([](PointsSink&) { throw ResourceError("r"); }) == "r");
  CHECK(error_of_child<Error>([](PointsSink&) { throw std::runtime_error("other"); }) == "other");
  check_mentions(error_of_child<ResourceError>([](PointsSink&) { throw std::bad_alloc(); }), {"not enough memory"});
  // Once values have come, too.
  CHECK(error_of_child<InputError>([](PointsSink& sink) {
          sink.begin(shape_of(2, {"x"}));
          throw InputError("late");
        }) == "late");
}

TEST_CASE("child reader: the budget holds, what the reader takes included") {
  const auto reader = [](PointsSink& sink) {
    PointsShape shape = shape_of(10, {"x"});
    shape.memory_taken = 21;
    sink.begin(shape);
    const Values x(10, 1.0);
    sink.put_rows(0, std::span<const double>(x));
  };
  CHECK(read(reader, {.memory = 101}).size() == 10);
  check_mentions(error_of_child<ResourceError>(reader, {.memory = 100}), {"x.dat", "10 points"});
  CHECK(has_no_child());
}

TEST_CASE("child reader: a crash is an input error, wherever it happens") {
  const auto crash = [](int how) {
    if (how == 0) ::raise(SIGSEGV);
    if (how == 1) std::abort();
    if (how == 2) ::raise(SIGFPE);
    if (how == 3) ::_exit(0);
    if (how == 4) ::raise(SIGBUS);
  };
  for (int how = 0; how < 5; ++how) {
    CAPTURE(how);
    check_mentions(error_of_child<InputError>([&](PointsSink&) { crash(how); }),
                   {"x.dat: damaged: libtest crashed on it", "fetch the file again"});
    check_mentions(error_of_child<InputError>([&](PointsSink& sink) {
                     sink.begin(shape_of(3, {"x"}));
                     const Values x{1, 2};
                     sink.put_rows(0, std::span<const double>(x));
                     crash(how);
                   }),
                   {"x.dat: damaged: libtest crashed on it"});
    CHECK(has_no_child());
  }
  check_mentions(error_of_child<InputError>([](PointsSink&) { ::raise(SIGSEGV); }), {"Segmentation fault"});
  // Nothing in the child does this: memory has run out, or somebody ended it.
  check_mentions(error_of_child<ResourceError>([](PointsSink&) { ::raise(SIGKILL); }), {"x.dat", "killed", "memory"});
}

TEST_CASE("child reader: values that cannot be are refused") {
  const Values two{1, 2};
  const auto refused = [&](const std::function<void(PointsSink&)>& put) {
    check_mentions(error_of_child<InputError>([&](PointsSink& sink) {
                     sink.begin(shape_of(2, {"x", "y"}));
                     put(sink);
                   }),
                   {"x.dat: damaged"});
  };
  refused([](PointsSink&) {});
  refused([&](PointsSink& sink) { sink.put_rows(2, std::span<const double>(two)); });
  refused([&](PointsSink& sink) { sink.put_rows(~std::uint64_t{0}, std::span<const double>(two)); });
  refused([&](PointsSink& sink) { sink.put_rows(0, std::span<const double>(two).first(1)); });
  refused([&](PointsSink& sink) { sink.put_coordinate(1, 0, std::span<const double>(two)); });
  refused([&](PointsSink& sink) { sink.put_coordinate(0, 2, std::span<const double>(two)); });
  refused([](PointsSink& sink) { sink.begin(shape_of(2, {"x", "y"})); });
  check_mentions(error_of_child<InputError>([&](PointsSink& sink) { sink.put_rows(0, std::span<const double>(two)); }),
                 {"x.dat: damaged"});
}

TEST_CASE("child reader: a step without an end is ended") {
  const ReadOptions options;
  const Source source{.name = "x.dat", .options = options};
  const auto never_ends = [](PointsSink&) {
    for (std::atomic<bool> go = true; go;) continue;
  };
  const std::string error = error_of<InputError>(
      [&] { static_cast<void>(read_in_child(source, "libtest", never_ends, std::chrono::seconds(1))); });
  check_mentions(error, {"x.dat: damaged: libtest did not get on with it for 1 s"});
  CHECK(has_no_child());
}

TEST_CASE("child reader: a handler of the program never runs in the child") {
  static volatile std::sig_atomic_t handled = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { handled = 1; };
  struct sigaction before {};
  REQUIRE(::sigaction(SIGSEGV, &action, &before) == 0);
  check_mentions(error_of_child<InputError>([](PointsSink& sink) {
                   ::raise(SIGSEGV);
                   if (handled != 0) throw UsageError("handled");
                   sink.begin(shape_of(0, {"x"}));
                 }),
                 {"libtest crashed on it"});
  CHECK(::sigaction(SIGSEGV, &before, nullptr) == 0);
}

TEST_CASE("child reader: several threads read at once") {
#ifdef __SANITIZE_ADDRESS__
  WARN("skipped: the address sanitizer's own locks do not survive fork() beside other threads");
#else
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &right] {
      for (int round = 0; round < 5; ++round) {
        const FilePoints points = read([&](PointsSink& sink) {
          sink.begin(shape_of(1000, {"x"}));
          const Values x(1000, t);
          sink.put_rows(0, std::span<const double>(x));
        });
        right += values_of(points) == Values(1000, t) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 20);
  CHECK(has_no_child());
#endif
}

TEST_CASE("child reader: what comes through a pipe is read before there is a child") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string text(1000, 'x');
  REQUIRE(::write(ends[1], text.data(), text.size()) == 1000);
  std::thread writer([&] { ::close(ends[1]); });
  const ReadOptions options;
  const std::unique_ptr<ByteStream> stream = open_stream("/dev/fd/" + std::to_string(ends[0]));
  const LibraryFile file = library_file(*stream, {.name = "pipe", .options = options});
  writer.join();
  ::close(ends[0]);
  CHECK(file.path == nullptr);
  CHECK(file.size == text.size());
  CHECK(std::string(file.bytes.span().data(), file.size) == text);
}

}  // namespace epsflow::io::test
