#include <epsflow/io/read/hdf5/pickle_strings.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {
namespace {

/// Steps through the operations. Any that is not known ends the reading.
class PickleReader {
 public:
  explicit PickleReader(std::string_view pickle) : rest_(pickle) {}

  std::optional<std::vector<std::string>> read() {
    while (!is_at_stop_) {
      const std::optional<std::string_view> code = take(1);
      if (!code || !step(code->front())) return std::nullopt;
    }
    return std::move(strings_);
  }

 private:
  bool step(char code) {
    switch (code) {
      case '.':
        is_at_stop_ = true;
        return true;
      case '(':     // mark
      case 'l':     // list
      case 't':     // tuple
      case ']':     // empty list
      case 'a':     // append
      case 'e':     // appends
      case '\x85':  // tuples of one, two, three
      case '\x86':
      case '\x87':
      case '\x94':  // memoize
        return true;
      case '\x80':  // protocol
      case 'q':     // put
        return take(1).has_value();
      case 'r':
        return take(4).has_value();
      case '\x95':  // frame
        return take(8).has_value();
      case 'p':
        return take_line().has_value();
      default:
        return step_text(code) || step_number(code);
    }
  }

  bool step_text(char code) {
    std::optional<std::string_view> text;
    switch (code) {
      case 'V':
        text = take_line();
        return text && add_escaped(*text);
      case 'X':
        text = take_sized(4);
        break;
      case '\x8c':
        text = take_sized(1);
        break;
      case '\x8d':
        text = take_sized(8);
        break;
      case 'U':  // the texts of Python 2
        text = take_sized(1);
        break;
      case 'T':
        text = take_sized(4);
        break;
      default:
        return false;
    }
    if (text) strings_.emplace_back(*text);
    return text.has_value();
  }

  bool step_number(char code) {
    if (code == 'I') {
      const std::optional<std::string_view> line = take_line();
      if (line) strings_.emplace_back(*line);
      return line.has_value();
    }
    const std::size_t size = code == 'K' ? 1 : code == 'M' ? 2 : code == 'J' ? 4 : 0;
    if (size == 0) return false;
    const std::optional<std::uint64_t> number = take_number(size);
    if (!number) return false;
    const auto value = static_cast<std::int64_t>(*number);
    strings_.push_back(std::to_string(size == 4 ? static_cast<std::int32_t>(value) : value));
    return true;
  }

  /// Latin-1 with \uXXXX and \UXXXXXXXX for the rest, as protocol 0 writes texts.
  bool add_escaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_short = text.substr(i).starts_with("\\u");
      if (!is_short && !text.substr(i).starts_with("\\U")) {
        append_utf8(static_cast<unsigned char>(text[i]), result);
        continue;
      }
      const std::string_view digits = text.substr(i + 2, is_short ? 4 : 8);
      std::uint32_t code = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (digits.size() != (is_short ? 4 : 8) || error != std::errc{} || end != digits.data() + digits.size()) {
        return false;
      }
      append_utf8(code, result);
      i += 1 + digits.size();
    }
    strings_.push_back(std::move(result));
    return true;
  }

  std::optional<std::string_view> take(std::uint64_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::optional<std::string_view> take_line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  std::optional<std::uint64_t> take_number(std::size_t bytes) {
    const std::optional<std::string_view> taken = take(bytes);
    if (!taken) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>((*taken)[i])} << (8 * i);
    return value;
  }

  std::optional<std::string_view> take_sized(std::size_t size_bytes) {
    const std::optional<std::uint64_t> size = take_number(size_bytes);
    return size ? take(*size) : std::nullopt;
  }

  std::string_view rest_;
  bool is_at_stop_ = false;
  std::vector<std::string> strings_;
};

}  // namespace

std::optional<std::vector<std::string>> read_pickled_strings(std::string_view pickle) {
  return PickleReader(pickle).read();
}

}  // namespace epsflow::io
