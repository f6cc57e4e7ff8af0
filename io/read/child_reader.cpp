#include <epsflow/io/read/child_reader.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epsflow/io/read/reader_messages.hpp>

namespace epsflow::io {
namespace {

/// Throws the child's error, or BadValues for any other message.
[[noreturn]] void throw_error(const Connection& child, Message message) {
  if (message == Message::usage_error) throw UsageError(child.receive<std::string>());
  if (message == Message::input_error) throw InputError(child.receive<std::string>());
  if (message == Message::resource_error) throw ResourceError(child.receive<std::string>());
  if (message == Message::error) throw Error(child.receive<std::string>());
  throw BadValues();
}

/// Sends the request and stores the values received. `begun` becomes true if the child understands the request. Throws
/// BadValues for impossible values, and the child's error.
void receive(const Connection& child, const ReadRequest& request, ValueStore& store, bool& begun) {
  child.send(request);
  for (;;) {
    const auto message = child.receive<Message>();
    if (message == Message::begun && !begun) {
      begun = true;
    } else if (message == Message::names && request.options.choose && !store.has_begun()) {
      child.send(request.options.choose(child.receive<std::vector<std::string>>()));
    } else if (message == Message::points) {
      store.begin(child.receive<PointsShape>());
    } else if (message == Message::table) {
      store.begin(child.receive<NeighborsShape>());
    } else if (message == Message::values) {
      const auto [first, column, bytes] = child.receive<ValuesHeader>();
      store.put_from(first, column, bytes, [&](std::span<std::byte> to) { child.receive_bytes(to.data(), to.size()); });
    } else if (message == Message::end && store.is_complete()) {
      return;
    } else {
      throw_error(child, message);
    }
  }
}

class Child {
 public:
  explicit Child(pid_t id) noexcept : id_(id) {}
  ~Child() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the status of waitpid; 0 if the program ignores the end of its children.
  int wait() noexcept {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = 0;
      break;
    }
    id_ = 0;
    return status;
  }

 private:
  pid_t id_;
};

/// Starts the reader with the socket as its standard input. The reader does not inherit this process's signal settings.
/// It has its own process group, so that signals that this process ignores, as of a closed terminal, do not end it.
class Spawning {
 public:
  Spawning() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_WRONLY, 0);
    }
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;

  /// Passes one of this process's descriptors to the reader as descriptor `number`.
  void pass(int descriptor, int number) {
    // The duplicate is above all numbers in use there, so that none is overwritten before it is passed.
    const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFileInMemory + 1);
    if (high < 0) {
      throw ResourceError(fmt::format(
          "no descriptor for a child process: {}; close files or raise the limit (ulimit -n)", std::strerror(errno)));
    }
    held_.emplace_back(high);
    posix_spawn_file_actions_adddup2(&actions_, high, number);
  }

  /// Returns the process, or throws ResourceError.
  pid_t start(const std::filesystem::path& program, const Source& source) {
    std::string name = "epsflow-reader";
    const std::array<char*, 2> arguments{name.data(), nullptr};
    pid_t id = 0;
    const int code = posix_spawn(&id, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
    if (code == 0) return id;
    const bool limited = code == EAGAIN || code == ENOMEM;
    throw source.error<ResourceError>("no child process to read it in: {}: {}{}", program.string(), std::strerror(code),
                                      limited ? "; end other programs, or raise the limit (ulimit -u)" : "");
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<OwnedDescriptor> held_;
};

std::string describe_end(int status, std::chrono::seconds patience) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
    return fmt::format("did not get on with it for {} s", patience.count());
  }
  if (WIFSIGNALED(status)) return fmt::format("crashed on it ({})", ::strsignal(WTERMSIG(status)));
  return "crashed on it";
}

}  // namespace

std::filesystem::path find_reader() {
  constexpr const char* kName = "epsflow-reader";
  const auto can_run = [](const std::filesystem::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
  };
  if (const char* const named = std::getenv("EPSFLOW_READER"); named != nullptr && *named != '\0') {
    if (can_run(named)) return named;
    throw ResourceError(fmt::format(
        "the environment variable EPSFLOW_READER names {}, which is no program; let it name epsflow-reader", named));
  }
  std::error_code code;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  const std::array<std::filesystem::path, 3> candidates{here / kName, here.parent_path() / "bin" / kName,
                                                        std::filesystem::path(EPSFLOW_BIN_FOLDER) / kName};
  const auto found = std::find_if(here.empty() ? candidates.end() - 1 : candidates.begin(), candidates.end(), can_run);
  if (found != candidates.end()) return *found;
  throw ResourceError(
      fmt::format("the program epsflow-reader, which reads FITS, HDF5, Parquet and Arrow files, is neither {} nor {} "
                  "nor {}; let the environment variable EPSFLOW_READER name it",
                  candidates[0].string(), candidates[1].string(), candidates[2].string()));
}

void read_in_child(const Format& format, const LibraryFile& file, const Source& source, ValueStore& store,
                   std::chrono::seconds patience) {
  const bool is_in_memory = file.memory.get() >= 0;
  std::array<int, 2> ends{-1, -1};
  const auto require_ends = [](int code) {
    if (code == 0) return;
    throw ResourceError(fmt::format("no pipe to a child process: {}; close files or raise the limit (ulimit -n)",
                                    std::strerror(errno)));
  };
  require_ends(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
  OwnedDescriptor asked(ends[0]);
  OwnedDescriptor request(ends[1]);
  require_ends(::pipe2(ends.data(), O_CLOEXEC));
  OwnedDescriptor answers(ends[0]);
  OwnedDescriptor written(ends[1]);
  // A larger pipe is faster. The call may fail, which does no harm.
  ::fcntl(written.get(), F_SETPIPE_SZ, 1 << 20);
  Child child = [&] {
    Spawning spawning;
    spawning.pass(request.get(), STDIN_FILENO);
    spawning.pass(written.get(), kAnswers);
    if (is_in_memory) spawning.pass(file.memory.get(), kFileInMemory);
    return Child(spawning.start(find_reader(), source));
  }();
  written = {};
  request = {};
  bool begun = false;
  try {
    receive(Connection(answers.get(), asked.get()),
            {.parent = ::getpid(),
             .patience = patience,
             .format = std::string(format.name),
             .name = source.name,
             .path = is_in_memory ? std::string() : file.path.string(),
             .size = file.size,
             .file_memory = file.memory_taken,
             .memory_taken = source.memory_taken,
             .chooses = static_cast<bool>(source.options.choose),
             .neighbors = store.takes_table(),
             .options = source.options},
            store, begun);
    static_cast<void>(child.wait());
  } catch (const BadValues&) {
    // Closing both ends stops a child that is writing, or waiting for data.
    answers = {};
    asked = {};
    const int status = child.wait();
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGKILL) {
      throw source.error<ResourceError>(
          "the process that read it was killed, as happens where memory runs out; end other programs, or read it in "
          "parts");
    }
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGXCPU) {
      throw source.error<ResourceError>("the process that read it was ended ({}); read it again", ::strsignal(signal));
    }
    if (!begun && signal == 0) {
      throw source.error<ResourceError>(
          "{} does not start, or is of another version of epsflow; let the environment variable EPSFLOW_READER name "
          "the one that was built with this program",
          find_reader().string());
    }
    throw source.error("damaged: {} {}; fetch the file again", format.reader.library, describe_end(status, patience));
  }
}

}  // namespace epsflow::io
