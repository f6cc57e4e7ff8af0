// What a process that reads files in the place of this one (epsflow-reader) is asked, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <sys/types.h>

#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Descriptors of the reading process. Its standard input is a socket: the request comes there, and what it asks for.
inline constexpr int kAnswers = 3;
inline constexpr int kFileInMemory = 4;

/// What an answer begins with.
enum class Message : std::uint8_t {
  begun,
  names,
  shape,
  table,
  values,
  end,
  usage_error,
  input_error,
  resource_error,
  error
};

struct ValuesHeader {
  std::uint64_t first = 0;
  std::uint64_t coordinate = 0;  ///< or the TableArray
  std::uint64_t bytes = 0;
};

/// No name and no error is as long as this; a process whose memory is damaged may send anything.
inline constexpr std::uint64_t kLongestText = std::uint64_t{1} << 20;

/// The other end is gone, or sends what cannot be.
struct BadMessage {};

class MessageWriter {
 public:
  explicit MessageWriter(int descriptor) noexcept : descriptor_(descriptor) {}

  /// Writes throw BadMessage where nobody reads, and raise no signal on a socket.
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&value, sizeof(T));
  }
  void text(std::string_view text) {
    value(std::uint64_t{text.size()});
    bytes(text.data(), text.size());
  }
  void bytes(const void* from, std::uint64_t count);

 private:
  int descriptor_;
};

class MessageReader {
 public:
  explicit MessageReader(int descriptor) noexcept : descriptor_(descriptor) {}

  template <class T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    bytes(&value, sizeof(T));
    return value;
  }
  std::string text();
  void bytes(void* to, std::uint64_t count);

 private:
  int descriptor_;
};

/// Which file is to be read, and how. Of ReadOptions it holds what a Format's `parse` may look at; in place of ReadOptions::choose,
/// whether there is one: then the reader may send names of columns, once, and gets numbers.
struct ReadRequest {
  pid_t parent = 0;
  std::chrono::seconds patience{0};  ///< processor time that a step may take
  std::string format = {};           ///< Format::name
  std::string name = {};             ///< Source::name
  std::string path = {};             ///< of the file; empty where it is kFileInMemory
  std::uint64_t size = 0;
  std::uint64_t file_memory = 0;  ///< LibraryFile::memory_taken
  std::uint64_t memory_taken = 0;
  bool chooses = false;
  bool neighbors = false;  ///< the file is a table of neighbours
  ReadOptions options = {};
};

void write_request(const ReadRequest& request, MessageWriter to);
/// Throws BadMessage for one of another version of epsflow.
[[nodiscard]] ReadRequest read_request(MessageReader from);

}  // namespace epsflow::io
