#include <epsflow/io/read/child_reader.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/neighbors_sink.hpp>
#include <epsflow/io/read/reader_messages.hpp>

namespace epsflow::io {
namespace {

class Answers {
 public:
  /// replies: where names of columns are answered.
  Answers(int descriptor, int replies) noexcept : from_(descriptor), replies_(replies) {}

  /// Whether the reader has understood what it is asked.
  [[nodiscard]] bool begun() const noexcept { return begun_; }

  /// Throws BadMessage for what cannot be, and the error that is sent.
  FilePoints read(const Source& source) {
    FilePoints points;
    PointsShape shape;
    bool has_begun = false;
    std::uint64_t values = 0;  // that are kept
    for (;;) {
      const auto message = from_.value<Message>();
      if (message == Message::begun && !begun_) {
        begun_ = true;
      } else if (message == Message::names && !has_begun && source.options.choose) {
        choose(source);
      } else if (message == Message::shape && !has_begun) {
        points = read_shape(source, shape);
        has_begun = true;
      } else if (message == Message::values && has_begun) {
        values += with_type(points.precision(), [&](auto zero) { return read_values<decltype(zero)>(points); });
      } else if (message == Message::end && has_begun && values == std::uint64_t{points.size()} * points.dims()) {
        break;
      } else {
        throw_error(message);
      }
    }
    finish_points(points, shape.columns, source);
    points.inputs.front().kind = shape.kind;
    points.inputs.front().pieces = shape.pieces;
    points.box = shape.box;
    points.has_masses = shape.has_masses;
    return points;
  }

  /// The same for a table of neighbours.
  FileNeighbors read_neighbors(const Source& source) {
    FileNeighbors table;
    bool has_begun = false;
    std::uint64_t missing = 0;  // bytes of it
    for (;;) {
      const auto message = from_.value<Message>();
      if (message == Message::begun && !begun_) {
        begun_ = true;
      } else if (message == Message::table && !has_begun) {
        table = read_table_shape(source);
        missing = table.offsets.bytes() + table.ids.bytes() + table.distances.bytes();
        has_begun = true;
      } else if (message == Message::values && has_begun) {
        missing -= read_array(table, missing);
      } else if (message == Message::end && has_begun && missing == 0) {
        return table;
      } else {
        throw_error(message);
      }
    }
  }

 private:
  void choose(const Source& source) {
    const auto count = from_.value<std::uint64_t>();
    require(count <= kLongestText);
    std::vector<std::string> names;
    for (std::uint64_t k = 0; k < count; ++k) names.push_back(from_.text());
    const std::vector<std::size_t> chosen = source.options.choose(names);
    replies_.value(std::uint64_t{chosen.size()});
    for (const std::size_t column : chosen) replies_.value(std::uint64_t{column});
  }

  FilePoints read_shape(const Source& source, PointsShape& shape) {
    rows_ = from_.value<std::uint64_t>();
    const auto precision = from_.value<Precision>();
    const auto memory_taken = from_.value<std::uint64_t>();
    shape.kind = from_.text();
    const auto sides = from_.value<std::uint64_t>();
    require(sides <= kMaxDims);
    for (std::uint64_t k = 0; k < sides; ++k) shape.box.push_back(from_.value<double>());
    shape.has_masses = from_.value<bool>();
    shape.pieces = from_.value<std::uint64_t>();
    const auto dims = from_.value<std::uint64_t>();
    require(std::ranges::all_of(shape.box, [](double side) { return std::isfinite(side) && side >= 0; }));
    require(shape.pieces > 0);
    require(sides == 0 || sides == dims - (source.options.weight.empty() ? 0 : 1));
    require(precision == Precision::float32 || precision == Precision::float64);
    require(memory_taken <= std::numeric_limits<std::uint64_t>::max() - source.memory_taken);
    FilePoints points = make_points(source.with_taken(memory_taken), rows_, dims, precision);
    shape.columns.resize(points.dims());
    for (ElementChoice& column : shape.columns) {
      column.column = from_.value<std::uint64_t>();
      column.element = from_.value<std::uint64_t>();
      column.name = from_.text();
      column.is_float32 = from_.value<bool>();
      column.unit = from_.text();
    }
    set_columns(points, shape.columns);
    return points;
  }

  FileNeighbors read_table_shape(const Source& source) {
    const auto shape = from_.value<NeighborsShape>();
    require(shape.memory_taken <= std::numeric_limits<std::uint64_t>::max() - source.memory_taken);
    const auto bytes_of_values = [](std::uint64_t count, std::size_t each) {
      return checked_multiply(count, each, "the table of neighbours");
    };
    // Each fits, so that their sum does.
    static_cast<void>(bytes_of_values(std::max({shape.offsets, shape.ids, shape.distances}), 4 * sizeof(double)));
    const std::uint64_t bytes =
        shape.offsets * sizeof(std::uint64_t) + shape.ids * sizeof(std::uint32_t) + shape.distances * sizeof(double);
    if (bytes > memory_left(source.with_taken(shape.memory_taken))) {
      throw source.error<ResourceError>(
          "its table of neighbours takes {}, but the budget is {}; raise ReadOptions::memory", format_bytes(bytes),
          format_bytes(source.options.memory));
    }
    return {Buffer<std::uint64_t>(shape.offsets), Buffer<std::uint32_t>(shape.ids), Buffer<double>(shape.distances),
            shape.eps};
  }

  /// Returns how many bytes came, at most `missing`.
  std::uint64_t read_array(FileNeighbors& table, std::uint64_t missing) {
    const auto [first, array, bytes] = from_.value<ValuesHeader>();
    const auto put = [&, first = first, bytes = bytes](auto& values) {
      const std::uint64_t count = bytes / sizeof(values[0]);
      require(bytes == count * sizeof(values[0]) && first <= values.size() && count <= values.size() - first);
      from_.bytes(values.data() + first, bytes);
    };
    require(bytes <= missing);
    switch (static_cast<TableArray>(array)) {
      case TableArray::offsets:
        put(table.offsets);
        break;
      case TableArray::ids:
        put(table.ids);
        break;
      case TableArray::distances:
        put(table.distances);
        break;
      default:
        throw BadMessage();
    }
    return bytes;
  }

  /// Keeps those of the share. Returns how many these are.
  template <class T>
  std::uint64_t read_values(FilePoints& points) {
    const auto [first, coordinate, bytes] = from_.value<ValuesHeader>();
    const bool is_rows = coordinate == PointsSink::kAllCoordinates;
    const std::uint64_t dims = points.dims();
    const std::uint64_t count = bytes / sizeof(T);
    const std::uint64_t rows = is_rows ? count / dims : count;
    require(bytes == count * sizeof(T) && (is_rows ? rows * dims == count : coordinate < dims));
    require(first <= rows_ && rows <= rows_ - first);
    const std::uint64_t row_bytes = bytes / std::max<std::uint64_t>(1, rows);
    const std::uint64_t begin = points.inputs.front().first;
    const std::uint64_t end = begin + points.size();
    const std::uint64_t kept_begin = std::clamp(begin, first, first + rows);
    const std::uint64_t kept_end = std::clamp(end, kept_begin, std::max(kept_begin, first + rows));
    pass_over((kept_begin - first) * row_bytes);
    if (kept_begin < kept_end) {
      T* const to = points.values<T>().data() + (kept_begin - begin) * dims;
      if (is_rows || dims == 1) {
        from_.bytes(to, (kept_end - kept_begin) * row_bytes);
      } else {
        scatter(kept_end - kept_begin, to + coordinate, dims);
      }
    }
    pass_over((first + rows - kept_end) * row_bytes);
    return (kept_end - kept_begin) * (is_rows ? dims : 1);
  }

  void pass_over(std::uint64_t bytes) {
    std::array<std::byte, std::size_t{1} << 16> block;
    for (std::uint64_t count = 0; bytes > 0; bytes -= count) {
      count = std::min<std::uint64_t>(bytes, block.size());
      from_.bytes(block.data(), count);
    }
  }

  template <class T>
  void scatter(std::uint64_t rows, T* to, std::uint64_t dims) {
    constexpr std::uint64_t kAtOnce = 8192;
    std::array<T, kAtOnce> block;
    for (std::uint64_t first = 0; first < rows; first += kAtOnce) {
      const std::uint64_t count = std::min(kAtOnce, rows - first);
      from_.bytes(block.data(), count * sizeof(T));
      for (std::uint64_t i = 0; i < count; ++i) to[(first + i) * dims] = block[i];
    }
  }

  [[noreturn]] void throw_error(Message message) {
    if (message == Message::usage_error) throw UsageError(from_.text());
    if (message == Message::input_error) throw InputError(from_.text());
    if (message == Message::resource_error) throw ResourceError(from_.text());
    if (message == Message::error) throw Error(from_.text());
    throw BadMessage();
  }

  static void require(bool can_be) {
    if (!can_be) throw BadMessage();
  }

  MessageReader from_;
  MessageWriter replies_;
  bool begun_ = false;
  std::uint64_t rows_ = 0;  ///< of the file
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

/// Starts the reader with the socket as its standard input. Whatever this process does with signals is not passed on; and in a
/// group of its own it is not hit by those that this process ignores, as one does that goes on when its terminal closes.
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

  /// Lets the reader have one of this process's descriptors as its `number`.
  void pass(int descriptor, int number) {
    // Above all numbers that are given, lest one of them be overwritten before it is passed.
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
  const std::array<std::filesystem::path, 3> places{here / kName, here.parent_path() / "bin" / kName,
                                                    std::filesystem::path(EPSFLOW_BIN_FOLDER) / kName};
  const auto found = std::find_if(here.empty() ? places.end() - 1 : places.begin(), places.end(), can_run);
  if (found != places.end()) return *found;
  throw ResourceError(
      fmt::format("the program epsflow-reader, which reads FITS, HDF5, Parquet and Arrow files, is neither {} nor {} "
                  "nor {}; let the "
                  "environment variable EPSFLOW_READER name it",
                  places[0].string(), places[1].string(), places[2].string()));
}

namespace {

/// What read(answers) makes of the answers of a reader that is asked for the file.
template <class Read>
auto ask_child(const Format& format, const LibraryFile& file, const Source& source, std::chrono::seconds patience,
               bool neighbors, const Read& read) {
  const bool is_in_memory = file.memory.get() >= 0;
  std::array<int, 2> ends{-1, -1};
  const auto require_ends = [](int code) {
    if (code == 0) return;
    throw ResourceError(fmt::format("no pipe to a child process: {}; close files or raise the limit (ulimit -n)",
                                    std::strerror(errno)));
  };
  require_ends(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
  const OwnedDescriptor asked(ends[0]);
  OwnedDescriptor request(ends[1]);
  require_ends(::pipe2(ends.data(), O_CLOEXEC));
  OwnedDescriptor answers(ends[0]);
  OwnedDescriptor written(ends[1]);
  // More at once is faster; it may be refused, and does not matter then.
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
  Answers from_child(answers.get(), asked.get());
  try {
    write_request({.parent = ::getpid(),
                   .patience = patience,
                   .format = std::string(format.name),
                   .name = source.name,
                   .path = is_in_memory ? std::string() : file.path.string(),
                   .size = file.size,
                   .file_memory = file.memory_taken,
                   .memory_taken = source.memory_taken,
                   .chooses = static_cast<bool>(source.options.choose),
                   .neighbors = neighbors,
                   .options = source.options},
                  MessageWriter(asked.get()));
    auto made = read(from_child);
    static_cast<void>(child.wait());
    return made;
  } catch (const BadMessage&) {
    answers = {};
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
    if (!from_child.begun() && signal == 0) {
      throw source.error<ResourceError>(
          "{} does not start, or is of another version of epsflow; let the environment variable EPSFLOW_READER name "
          "the one that was built with this program",
          find_reader().string());
    }
    throw source.error("damaged: {} {}; fetch the file again", format.reader.library, describe_end(status, patience));
  }
}

}  // namespace

FilePoints read_in_child(const Format& format, const LibraryFile& file, const Source& source,
                         std::chrono::seconds patience) {
  return ask_child(format, file, source, patience, false, [&](Answers& answers) { return answers.read(source); });
}

FileNeighbors read_neighbors_in_child(const Format& format, const LibraryFile& file, const Source& source) {
  return ask_child(format, file, source, kPatience, true,
                   [&](Answers& answers) { return answers.read_neighbors(source); });
}

}  // namespace epsflow::io
