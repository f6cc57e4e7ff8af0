#include <epsflow/io/read/child_reader.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <type_traits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

/// What a message begins with.
enum class Message : std::uint8_t { shape, values, end, usage_error, input_error, resource_error, error };

struct ValuesHeader {
  std::uint64_t first = 0;
  std::uint64_t coordinate = 0;
  std::uint64_t bytes = 0;
};

// No name or error is as long as this; a child whose memory is damaged may send anything.
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 20;

/// The child cannot go on: its parent is gone.
struct ParentGone {};

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw ResourceError(fmt::format("no pipe to a child process: {}; close files or raise the limit (ulimit -n)",
                                      std::strerror(errno)));
    }
    // The child closes its standard output and error, which these may be where the parent has none.
    for (int& end : ends_) {
      if (end > STDERR_FILENO) continue;
      const int higher = ::fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      if (higher < 0) continue;
      ::close(end);
      end = higher;
    }
    // More at once is faster; it may be refused, and does not matter then.
    ::fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_end(std::size_t end) noexcept {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  [[nodiscard]] int read_end() const noexcept { return ends_[0]; }
  [[nodiscard]] int write_end() const noexcept { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Signals wait from its making to its end, so that no handler of the parent runs in the child.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

// --- the child ---

class ChildSink final : public PointsSink {
 public:
  ChildSink(int descriptor, std::chrono::seconds patience) : descriptor_(descriptor), patience_(patience) {
    restart_timer();
  }

  void begin(const PointsShape& shape) override {
    write_value(Message::shape);
    write_value(shape.rows);
    write_value(shape.precision);
    write_value(shape.memory_taken);
    write_text(shape.kind);
    write_value(std::uint64_t{shape.columns.size()});
    for (const ElementChoice& column : shape.columns) {
      write_value(std::uint64_t{column.column});
      write_value(column.element);
      write_text(column.name);
    }
    restart_timer();
  }

  void end() { write_value(Message::end); }

  void fail(Message kind, std::string_view text) {
    write_value(kind);
    write_text(text.substr(0, kLongestText));
  }

 private:
  void put(std::uint64_t first, std::uint64_t coordinate, std::span<const std::byte> values) override {
    write_value(Message::values);
    write_value(ValuesHeader{first, coordinate, values.size()});
    write(values.data(), values.size());
    restart_timer();
  }

  template <class T>
  void write_value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    write(&value, sizeof(T));
  }

  void write_text(std::string_view text) {
    write_value(std::uint64_t{text.size()});
    write(text.data(), text.size());
  }

  void write(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      const ssize_t written = ::write(descriptor_, at, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw ParentGone();
      at += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  /// Its end is a signal that ends the child. Processor time: waiting for a slow disk is no step that never ends.
  void restart_timer() const noexcept {
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = patience_.count(), .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
  }

  int descriptor_;
  std::chrono::seconds patience_;
};

/// Makes the child one that crashes in silence, whatever the parent does with signals.
void become_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 0);
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPROF}) {
    ::signal(signal, SIG_DFL);
    sigaddset(&ending, signal);
  }
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere >= 0) ::dup2(nowhere, stream);
  }
}

/// The child from its first to its last moment. Nothing of the parent is destroyed in it.
[[noreturn]] void run_child(pid_t parent, Pipe& pipe, std::chrono::seconds patience,
                            const std::function<void(PointsSink&)>& read) {
  become_child(parent);
  pipe.close_end(0);
  try {
    ChildSink sink(pipe.write_end(), patience);
    try {
      read(sink);
      sink.end();
    } catch (const UsageError& error) {
      sink.fail(Message::usage_error, error.what());
    } catch (const InputError& error) {
      sink.fail(Message::input_error, error.what());
    } catch (const ResourceError& error) {
      sink.fail(Message::resource_error, error.what());
    } catch (const std::bad_alloc&) {
      sink.fail(Message::resource_error, "not enough memory to read the file; end other programs, or read it in parts");
    } catch (const std::exception& error) {
      sink.fail(Message::error, error.what());
    }
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

// --- the parent ---

/// What cannot be told: the child has ended in the middle, or its memory is damaged.
struct BadMessage {};

class ChildMessages {
 public:
  explicit ChildMessages(int descriptor) noexcept : descriptor_(descriptor) {}

  /// Throws BadMessage when the child sends what cannot be, or its error.
  FilePoints read(const Source& source) {
    FilePoints points;
    std::string kind;
    bool has_begun = false;
    std::uint64_t values = 0;
    for (;;) {
      const auto message = read_value<Message>();
      if (message == Message::shape && !has_begun) {
        points = read_shape(source, kind);
        has_begun = true;
      } else if (message == Message::values && has_begun) {
        values += points.precision() == Precision::float32 ? read_values<float>(points) : read_values<double>(points);
      } else if (message == Message::end && has_begun && values == std::uint64_t{points.size()} * points.dims()) {
        break;
      } else {
        throw_error(message);
      }
    }
    apply_nan_policy(points, source);
    points.inputs.front().kind = kind;
    return points;
  }

 private:
  FilePoints read_shape(const Source& source, std::string& kind) {
    const auto rows = read_value<std::uint64_t>();
    const auto precision = read_value<Precision>();
    const auto memory_taken = read_value<std::uint64_t>();
    kind = read_text();
    const auto dims = read_value<std::uint64_t>();
    require(precision == Precision::float32 || precision == Precision::float64);
    require(memory_taken <= std::numeric_limits<std::uint64_t>::max() - source.memory_taken);
    const Source remaining{
        .name = source.name, .options = source.options, .memory_taken = source.memory_taken + memory_taken};
    FilePoints points = make_points(remaining, rows, dims, precision);
    std::vector<ElementChoice> columns(points.dims());
    for (ElementChoice& column : columns) {
      column.column = read_value<std::uint64_t>();
      column.element = read_value<std::uint64_t>();
      column.name = read_text();
    }
    set_columns(points, columns);
    return points;
  }

  /// Returns how many values came.
  template <class T>
  std::uint64_t read_values(Points& points) {
    const auto [first, coordinate, bytes] = read_value<ValuesHeader>();
    const bool is_rows = coordinate == PointsSink::kAllCoordinates;
    const std::uint64_t dims = points.dims();
    const std::uint64_t count = bytes / sizeof(T);
    const std::uint64_t rows = is_rows ? count / dims : count;
    require(bytes == count * sizeof(T) && (is_rows ? rows * dims == count : coordinate < dims));
    require(first <= points.size() && rows <= points.size() - first);
    T* const to = points.values<T>().data() + first * dims;
    if (is_rows || dims == 1) {
      read_bytes(to, bytes);
    } else {
      scatter(rows, to + coordinate, dims);
    }
    return count;
  }

  template <class T>
  void scatter(std::uint64_t rows, T* to, std::uint64_t dims) {
    constexpr std::uint64_t kAtOnce = 8192;
    std::array<T, kAtOnce> block;
    for (std::uint64_t first = 0; first < rows; first += kAtOnce) {
      const std::uint64_t count = std::min(kAtOnce, rows - first);
      read_bytes(block.data(), count * sizeof(T));
      for (std::uint64_t i = 0; i < count; ++i) to[(first + i) * dims] = block[i];
    }
  }

  [[noreturn]] void throw_error(Message message) {
    if (message == Message::usage_error) throw UsageError(read_text());
    if (message == Message::input_error) throw InputError(read_text());
    if (message == Message::resource_error) throw ResourceError(read_text());
    if (message == Message::error) throw Error(read_text());
    throw BadMessage();
  }

  static void require(bool can_be) {
    if (!can_be) throw BadMessage();
  }

  template <class T>
  T read_value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    read_bytes(&value, sizeof(T));
    return value;
  }

  std::string read_text() {
    const auto size = read_value<std::uint64_t>();
    require(size <= kLongestText);
    std::string text(size, '\0');
    read_bytes(text.data(), size);
    return text;
  }

  void read_bytes(void* to, std::uint64_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor_, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw BadMessage();
      at += got;
      bytes -= static_cast<std::uint64_t>(got);
    }
  }

  int descriptor_;
};

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

  /// How it ended, as waitpid says; 0 where the program lets nobody know.
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

std::string describe_end(int status, std::chrono::seconds patience) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
    return fmt::format("did not get on with it for {} s", patience.count());
  }
  if (WIFSIGNALED(status)) return fmt::format("crashed on it ({})", ::strsignal(WTERMSIG(status)));
  return "crashed on it";
}

}  // namespace

FilePoints read_in_child(const Source& source, std::string_view library, const std::function<void(PointsSink&)>& read,
                     std::chrono::seconds patience) {
  // One at a time: a child that held the other end of another's pipe would hide that one's end.
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  Pipe pipe;
  const pid_t parent = ::getpid();
  pid_t id = 0;
  {
    const SignalsHeld held;
    id = ::fork();
    if (id == 0) run_child(parent, pipe, patience, read);
  }
  if (id < 0) {
    throw ResourceError(
        fmt::format("{}: no child process to read it in: {}; end other programs, or raise the limit "
                    "(ulimit -u)",
                    source.name, std::strerror(errno)));
  }
  Child child(id);
  pipe.close_end(1);
  lock.unlock();
  try {
    return ChildMessages(pipe.read_end()).read(source);
  } catch (const BadMessage&) {
    pipe.close_end(0);
    const int status = child.wait();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      throw ResourceError(
          fmt::format("{}: the process that read it was killed, as happens where memory runs out; end "
                      "other programs, or read it in parts",
                      source.name));
    }
    throw InputError(
        fmt::format("{}: damaged: {} {}; fetch the file again", source.name, library, describe_end(status, patience)));
  }
}

}  // namespace epsflow::io
