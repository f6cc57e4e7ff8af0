// The messages between this process and the child process that reads files for it (epsflow-reader).
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <epsflow/io/read/value_sink.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Descriptors of the child process. Its standard input is a socket for the request and the chosen columns.
inline constexpr int kAnswers = 3;
inline constexpr int kFileInMemory = 4;

/// The first byte of an answer. The names, the shape, a ValuesHeader and the values, or the text of the error follow.
enum class Message : std::uint8_t {
  begun,
  names,
  points,
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
  std::uint64_t column = 0;  ///< column as in ValueSink::put()
  std::uint64_t bytes = 0;
};

/// The file to read, and how. `options` holds the options that a Format's `parse` may use. ReadOptions::choose is
/// called by the parent: if it is set, the reader may send the names of columns before the shape, and receives numbers.
struct ReadRequest {
  std::string version = "epsflow-reader 9";  ///< changes with the content of a request or an answer
  pid_t parent = 0;
  std::chrono::seconds patience{0};  ///< processor time that a step may take
  std::string format = {};           ///< Format::name
  std::string name = {};             ///< Source::name
  std::string path = {};             ///< empty if the file is kFileInMemory
  std::uint64_t size = 0;
  std::uint64_t file_memory = 0;  ///< LibraryFile::memory_taken
  std::uint64_t memory_taken = 0;
  bool chooses = false;
  bool neighbors = false;  ///< true if the file is a neighbour table
  ReadOptions options = {};
};

template <class T, class Plain>
concept SameButConst = std::same_as<std::remove_const_t<T>, Plain>;

/// Returns the members of a structure that are sent, in this order.
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

  /// Sends values: text, lists, structures with members_of(), and trivially copyable types. Throws BadValues if the
  /// peer is gone.
  template <class... T>
  void send(const T&... values) {
    (send_one(values), ...);
  }

  /// Receives a value as send() sends it. Throws BadValues if the other end is closed or sends an impossible value.
  template <class T>
  T receive() {
    T value{};
    receive_into(value);
    return value;
  }

  void send_bytes(const void* from, std::uint64_t count) const;
  void receive_bytes(void* to, std::uint64_t count) const;

 private:
  /// The maximum length of a text or list.
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;

  template <class T>
  void send_one(const T& value) {
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
  void receive_into(T& value) {
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
        // Memory grows with the items that arrive, because the size may be wrong.
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
