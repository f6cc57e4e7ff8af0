#include <epsflow/io/read/reader_process.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <new>
#include <span>

#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <epsflow/io/read/reader_messages.hpp>

namespace epsflow::io {
namespace {

/// Its end is a signal that ends the process. Processor time: waiting for a slow disk is no step that never ends.
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

void put_values(MessageWriter& answers, const ValuesHeader& header, std::span<const std::byte> values) {
  answers.value(Message::values);
  answers.value(header);
  answers.bytes(values.data(), values.size());
}

class AnswerSink final : public PointsSink {
 public:
  explicit AnswerSink(const StepTimer& timer) : timer_(timer) {}

  void begin(const PointsShape& shape) override {
    answers_.value(Message::shape);
    answers_.value(shape.rows);
    answers_.value(shape.precision);
    answers_.value(shape.memory_taken);
    answers_.text(shape.kind);
    answers_.value(std::uint64_t{shape.box.size()});
    for (const double side : shape.box) answers_.value(side);
    answers_.value(shape.has_masses);
    answers_.value(shape.pieces);
    answers_.value(std::uint64_t{shape.columns.size()});
    for (const ElementChoice& column : shape.columns) {
      answers_.value(std::uint64_t{column.column});
      answers_.value(column.element);
      answers_.text(column.name);
      answers_.value(column.is_float32);
      answers_.text(column.unit);
    }
    timer_.restart();
  }

 private:
  void put(std::uint64_t first, std::uint64_t coordinate, std::span<const std::byte> values) override {
    put_values(answers_, {first, coordinate, values.size()}, values);
    timer_.restart();
  }

  MessageWriter answers_{kAnswers};
  const StepTimer& timer_;
};

class NeighborsAnswerSink final : public NeighborsSink {
 public:
  explicit NeighborsAnswerSink(const StepTimer& timer) : timer_(timer) {}

  void begin(const NeighborsShape& shape) override {
    answers_.value(Message::table);
    answers_.value(shape);
    timer_.restart();
  }
  void put(TableArray array, std::uint64_t first, std::span<const std::byte> values) override {
    put_values(answers_, {first, static_cast<std::uint64_t>(array), values.size()}, values);
    timer_.restart();
  }

 private:
  MessageWriter answers_{kAnswers};
  const StepTimer& timer_;
};

/// ReadOptions::choose where the process that asked has one.
std::vector<std::size_t> ask(const std::vector<std::string>& names) {
  MessageWriter answers(kAnswers);
  answers.value(Message::names);
  answers.value(std::uint64_t{names.size()});
  for (const std::string& name : names) answers.text(std::string_view(name).substr(0, kLongestText));
  MessageReader replies(STDIN_FILENO);
  std::vector<std::size_t> chosen(replies.value<std::uint64_t>());
  for (std::size_t& column : chosen) column = replies.value<std::uint64_t>();
  return chosen;
}

void parse(const ReadRequest& request, const Reader& reader) {
  const bool is_in_memory = request.path.empty();
  const LibraryFile file{.path = is_in_memory ? path_of_descriptor(kFileInMemory) : std::filesystem::path(request.path),
                         .size = request.size,
                         .memory_taken = request.file_memory};
  const Source source{.name = request.name, .options = request.options, .memory_taken = request.memory_taken};
  const StepTimer timer(request.patience);
  if (request.neighbors) {
    NeighborsAnswerSink sink(timer);
    reader.parse_neighbors(file, source, sink);
  } else {
    AnswerSink sink(timer);
    reader.parse(file, source, sink);
  }
}

void fail(Message kind, std::string_view text) {
  MessageWriter answers(kAnswers);
  answers.value(kind);
  answers.text(text.substr(0, kLongestText));
}

}  // namespace

void serve_reader(Reader (*reader_of)(std::string_view format)) {
  try {
    ReadRequest request = read_request(MessageReader(STDIN_FILENO));
    if (request.chooses) request.options.choose = ask;
    MessageWriter(kAnswers).value(Message::begun);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (::getppid() != request.parent) ::_exit(1);
    try {
      parse(request, reader_of(request.format));
      MessageWriter(kAnswers).value(Message::end);
    } catch (const UsageError& error) {
      fail(Message::usage_error, error.what());
    } catch (const InputError& error) {
      fail(Message::input_error, error.what());
    } catch (const ResourceError& error) {
      fail(Message::resource_error, error.what());
    } catch (const std::bad_alloc&) {
      fail(Message::resource_error, "not enough memory to read the file; end other programs, or read it in parts");
    } catch (const std::exception& error) {
      fail(Message::error, error.what());
    }
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace epsflow::io
