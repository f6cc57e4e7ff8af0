// The messages between this process and the child process that reads files for it (epsflow-reader).
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <sys/types.h>

#include <epsflow/io/read/value_sink.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Descriptors of the child process. Its standard input is a socket for the request and the chosen columns.
inline constexpr int kAnswers = 3;       ///< a pipe for the answers
inline constexpr int kFileInMemory = 4;  ///< LibraryFile::memory, if the file is held in memory

/// The first byte of an answer. The enumerators say what follows it.
enum class Message : std::uint8_t {
  begun,           ///< nothing: the reader has understood the request
  names,           ///< a list of names of columns; the parent answers with the list that ReadOptions::choose returns
  points,          ///< the PointsShape
  table,           ///< the NeighborsShape
  values,          ///< a ValuesHeader, followed by the bytes of the values
  end,             ///< nothing: all values have been sent
  usage_error,     ///< the text of a UsageError
  input_error,     ///< the text of an InputError
  resource_error,  ///< the text of a ResourceError
  error            ///< the text of any other error
};

struct ValuesHeader {
  std::uint64_t first = 0;   ///< row of the first value, or its index in an array of a neighbour table
  std::uint64_t column = 0;  ///< 0: whole rows; k + 1: coordinate k; d + 1: weights; for a neighbour table a TableArray
  std::uint64_t bytes = 0;   ///< bytes of the values
};

/// The file to read, and how. members_of() lists the members of `options` that are sent. The other members have their
/// defaults in the reader, so a Format's `parse` must not use them. Only ReadOptions::choose works although it is not
/// sent (see `chooses`).
struct ReadRequest {
  /// Changes with the content of a request or an answer. A reader of another version ends without an answer.
  std::string version = "epsflow-reader 9";
  pid_t parent = 0;  ///< the process that sends the request; the reader ends with it
  /// The processor time that the reader may take before the shape, and then for each block of values. A signal ends the
  /// reader if it takes longer. 0: no limit.
  std::chrono::seconds patience{0};
  std::string format = {};         ///< Format::name
  std::string name = {};           ///< Source::name
  std::string path = {};           ///< empty if the file is kFileInMemory
  std::uint64_t size = 0;          ///< LibraryFile::size
  std::uint64_t file_memory = 0;   ///< LibraryFile::memory_taken
  std::uint64_t memory_taken = 0;  ///< Source::memory_taken: bytes that earlier files of the data set hold
  /// True if ReadOptions::choose is set in the parent. Then the reader may send Message::names before the shape.
  bool chooses = false;
  bool neighbors = false;  ///< true if the file is a neighbour table
  ReadOptions options = {};
};

template <class T, class Plain>
concept SameButConst = std::same_as<std::remove_const_t<T>, Plain>;

/// Returns references to the members of a structure that are sent, in the order in which they are sent.
template <SameButConst<ElementChoice> T>
auto members_of(T& choice) {
  return std::tie(choice.column, choice.element, choice.name, choice.is_float32, choice.unit);
}
template <SameButConst<PointsShape> T>
auto members_of(T& shape) {
  return std::tie(shape.rows, shape.columns, shape.kind, shape.memory_taken, shape.box, shape.has_masses, shape.pieces);
}
template <SameButConst<ReadRequest> T>
auto members_of(T& request) {
  auto& options = request.options;
  return std::tie(request.version, request.parent, request.patience, request.format, request.name, request.path,
                  request.size, request.file_memory, request.memory_taken, request.chooses, request.neighbors,
                  options.columns, options.weight, options.table, options.memory, options.share, options.particles,
                  options.on_nan, options.external_storage);
}

/// One end of the connection between the processes.
class Connection {
 public:
  Connection(int in, int out) noexcept : in_(in), out_(out) {}

  /// Sends values: texts, lists, structures with members_of(), and trivially copyable types. Cuts a text after kLongest
  /// bytes. A list must not be longer than kLongest: receive() refuses it. Throws BadValues if the other end is closed.
  template <class... T>
  void send(const T&... values) const {
    (send_one(values), ...);
  }

  /// Receives a value as send() sends it. Throws BadValues if the other end is closed or sends an impossible value,
  /// such as a list of more than kLongest items.
  template <class T>
  T receive() const {
    T value{};
    receive_into(value);
    return value;
  }

  /// Both transfer exactly `count` bytes, without their number, and throw BadValues if the other end is closed.
  void send_bytes(const void* from, std::uint64_t count) const;
  void receive_bytes(void* to, std::uint64_t count) const;

 private:
  /// The largest number of bytes of a text, and of items of a list.
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;

  template <class T>
  void send_one(const T& value) const {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = std::string_view(value).substr(0, kLongest);
      send_one(std::uint64_t{text.size()});
      send_bytes(text.data(), text.size());
    } else if constexpr (requires { value.size(); }) {
      send_one(std::uint64_t{value.size()});
      for (const auto& item : value) send_one(item);
    } else if constexpr (requires { members_of(value); }) {
      std::apply([&](const auto&... members) { send(members...); }, members_of(value));
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      send_bytes(&value, sizeof(T));
    }
  }

  template <class T>
  void receive_into(T& value) const {
    if constexpr (std::same_as<T, bool>) {
      value = receive<std::uint8_t>() != 0;
    } else if constexpr (requires { members_of(value); }) {
      std::apply([&](auto&... members) { (receive_into(members), ...); }, members_of(value));
    } else if constexpr (requires { value.resize(1); }) {
      const auto size = receive<std::uint64_t>();
      if (size > kLongest) throw BadValues();
      if constexpr (std::same_as<T, std::string>) {
        value.resize(size);
        receive_bytes(value.data(), size);
      } else {
        // The size may be wrong. So memory is allocated as items arrive, and not for `size` items at once.
        for (std::uint64_t i = 0; i < size; ++i) value.push_back(receive<typename T::value_type>());
      }
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      receive_bytes(&value, sizeof(T));
    }
  }

  int in_;
  int out_;
};

}  // namespace epsflow::io
