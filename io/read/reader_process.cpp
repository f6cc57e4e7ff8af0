#include <epsflow/io/read/child_reader.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <epsflow/io/read/reader_messages.hpp>

namespace epsflow::io {
namespace {

/// Ends the process by a signal if a step takes too much processor time. Waiting for a disk does not count.
class StepTimer {
 public:
  explicit StepTimer(std::chrono::seconds patience) : patience_(patience) { restart(); }

  void restart() const noexcept {
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = patience_.count(), .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
  }

 private:
  std::chrono::seconds patience_;
};

class AnswerSink final : public ValueSink {
 public:
  AnswerSink(Connection& parent, const StepTimer& timer) : parent_(parent), timer_(timer) {}

  void begin(const PointsShape& shape) override {
    parent_.send(Message::points, shape);
    timer_.restart();
  }
  void begin(const NeighborsShape& shape) override {
    parent_.send(Message::table, shape);
    timer_.restart();
  }
  void put(std::uint64_t first, std::uint64_t column, std::span<const std::byte> values) override {
    parent_.send(Message::values, ValuesHeader{first, column, values.size()});
    parent_.send_bytes(values.data(), values.size());
    timer_.restart();
  }

 private:
  Connection& parent_;
  const StepTimer& timer_;
};

void parse(const ReadRequest& request, const Reader& reader, Connection& parent) {
  const bool is_in_memory = request.path.empty();
  const LibraryFile file{.path = is_in_memory ? path_of_descriptor(kFileInMemory) : std::filesystem::path(request.path),
                         .size = request.size,
                         .memory_taken = request.file_memory};
  const Source source{.name = request.name, .options = request.options, .memory_taken = request.memory_taken};
  const StepTimer timer(request.patience);
  AnswerSink sink(parent, timer);
  (request.neighbors ? reader.parse_neighbors : reader.parse)(file, source, sink);
}

/// Reads the request, and answers it. Throws BadValues if it is of another version, or the parent has ended.
void answer(Reader (*reader_of)(std::string_view format), Connection& parent) {
  auto request = parent.receive<ReadRequest>();
  if (request.version != ReadRequest().version || request.options.share.index >= request.options.share.count) {
    throw BadValues();
  }
  if (request.chooses) {
    request.options.choose = [&](const std::vector<std::string>& names) {
      parent.send(Message::names, names);
      return parent.receive<std::vector<std::size_t>>();
    };
  }
  parent.send(Message::begun);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);
  if (::getppid() != request.parent) throw BadValues();
  try {
    parse(request, reader_of(request.format), parent);
    parent.send(Message::end);
  } catch (const UsageError& error) {
    parent.send(Message::usage_error, error.what());
  } catch (const InputError& error) {
    parent.send(Message::input_error, error.what());
  } catch (const ResourceError& error) {
    parent.send(Message::resource_error, error.what());
  } catch (const std::bad_alloc&) {
    parent.send(Message::resource_error, "not enough memory to read the file; end other programs, or read it in parts");
  } catch (const std::exception& error) {
    parent.send(Message::error, error.what());
  }
}

}  // namespace

void serve_reader(Reader (*reader_of)(std::string_view format)) {
  try {
    Connection parent(STDIN_FILENO, kAnswers);
    answer(reader_of, parent);
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace epsflow::io
