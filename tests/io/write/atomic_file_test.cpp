#include <sys/resource.h>

#include <csignal>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/core/labels.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

/// While an object lives, a write beyond `bytes` fails, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

}  // namespace

TEST_CASE("atomic file: nothing appears of a file that failed, and an older one stays") {
  const TempFolder folder;
  write_text_file(folder / "a/b/c.txt", "old");
  const auto fails = [](const std::filesystem::path& file) {
    write_text_file(file, "new");
    throw InputError("half a file");
  };
  error_of<InputError>([&] { write_atomically(folder / "a/b/c.txt", Overwrite::replace, fails); });
  CHECK(files_in(folder / "a/b") == 1);
  CHECK(bytes_of_file(folder / "a/b/c.txt") == "old");
  check_error<ResourceError>({"Is a directory", "choose another place"}, [&] { write_text_file(folder / "a/b", "x"); });
  check_error<ResourceError>({"/proc/none/x"}, [&] { write_text_file("/proc/none/x", "x"); });
}

TEST_CASE("atomic file: a file that has come to exist is refused, however late") {
  const TempFolder folder;
  const auto write = [&](const std::filesystem::path& file) {
    write_text_file(file, "mine");
    folder.write("x", "theirs");
  };
  check_error<UsageError>({"x exists already", "Overwrite::replace"},
                          [&] { write_atomically(folder / "x", Overwrite::refuse, write); });
  CHECK(bytes_of_file(folder / "x") == "theirs");
  CHECK(files_in(folder / "") == 1);
}

TEST_CASE("atomic file: what a killed process left is removed, what a living one writes is not") {
  const TempFolder folder;
  const std::string dead = temporary_beside(folder / "x").filename().string();
  const std::string prefix = dead.substr(0, dead.rfind('-') + 1);
  folder.write(prefix + "4194304", "left");  // larger than any process number of Linux
  folder.write(prefix + "1", "under way");
  folder.write(prefix + "1x", "not ours");
  write_text_file(folder / "x", "new");
  CHECK_FALSE(std::filesystem::exists(folder / (prefix + "4194304")));
  CHECK(std::filesystem::exists(folder / (prefix + "1")));
  CHECK(std::filesystem::exists(folder / (prefix + "1x")));
}

TEST_CASE("atomic file: an error of the disk names the file, the reason and the bytes, in every format") {
  const TempFolder folder;
  const VariantResult result{{0.5, 2}, std::vector<std::int32_t>(100'000, 7), {1, 0, 100'000, 0, 100'000}, 1};
  for (const char* name : {"l.npy", "l.csv", "l.fits", "l.h5"}) {
    INFO(name);
    std::string error;
    {
      const SmallFiles small(50'000);
      error = error_of<ResourceError>([&] { write_labels(folder / name, result, Overwrite::refuse); });
    }
    check_mentions(error, {name, "File too large", "free space"});
    CHECK(error.find("18446744073709551615") == std::string::npos);
    CHECK(std::filesystem::is_empty(folder / ""));
    write_labels(folder / name, result, Overwrite::refuse);  // the library works again after the failure
    std::filesystem::remove(folder / name);
  }
}

TEST_CASE("output targets: what must not be written is refused before anything is done") {
  const TempFolder folder;
  const std::filesystem::path input = folder.write("in.npy", "input");
  std::filesystem::create_symlink(input, folder / "symbolic");
  std::filesystem::create_hard_link(input, folder / "hard");
  std::filesystem::create_symlink(folder / "nothing", folder / "dangling");
  const std::vector<std::filesystem::path> inputs{input};
  for (const char* name : {"in.npy", "symbolic", "hard", "./in.npy"}) {
    check_error<UsageError>({name, "is the input", "in.npy"},
                            [&] { require_target(folder / name, Overwrite::replace, inputs); });
  }
  const auto refused = [&](const std::filesystem::path& target, Overwrite overwrite) {
    return error_of<UsageError>([&] { require_target(target, overwrite, inputs); });
  };
  folder.write("old", "old");
  check_mentions(refused(folder / "old", Overwrite::refuse), {"old exists already", "Overwrite::replace"});
  check_mentions(refused(folder / "dangling", Overwrite::refuse), {"exists already"});
  check_mentions(refused("", Overwrite::replace), {"empty"});
  check_mentions(refused(folder / "", Overwrite::replace), {"is a folder"});
  check_mentions(refused("/dev/null", Overwrite::replace), {"/dev/null", "device"});
  check_error<ResourceError>({"/proc/no/x"}, [&] { require_target("/proc/no/x", Overwrite::refuse, inputs); });
  CHECK_NOTHROW(require_target(folder / "old", Overwrite::replace, inputs));
  CHECK_NOTHROW(require_target(folder / "a/b/new", Overwrite::refuse, inputs));
  CHECK_NOTHROW(require_target("-", Overwrite::refuse, inputs));
  CHECK(files_in(folder / "") == 5);
}

}  // namespace epsflow::io::test
