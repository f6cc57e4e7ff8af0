#include <epsflow/io/read/numpy/npy_header.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <epsflow/io/read/decimal.hpp>

namespace epsflow::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void throw_damaged(const Source& source, std::string_view why) {
  throw source.error("damaged NPY header: {}; write the file again with numpy.save", why);
}

/// The value of the Python literal in an NPY header; tuples become arrays.
using Literal = nlohmann::json;

/// Returns the quoted text at `at` as a JSON string, and moves `at` past it.
std::string json_string(std::string_view text, std::size_t& at, const Source& source) {
  const char quote = text[at++];
  std::string json = "\"";
  for (; at < text.size() && text[at] != quote; ++at) {
    // Python's repr escapes quotes and backslashes. Other escapes, which names rarely contain, stay as written.
    const bool is_escaped = text[at] == '\\' && at + 1 < text.size() &&
                            (text[at + 1] == '\\' || text[at + 1] == '\'' || text[at + 1] == '"');
    if (is_escaped) ++at;
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
  }
  if (at == text.size()) throw_damaged(source, "a text in it is not closed");
  ++at;
  return json + '"';
}

/// Parses the subset of Python's literals that numpy writes into headers, by converting it to equivalent JSON.
Literal parse_literal(std::string_view text, const Source& source) {
  // Numpy nests the type of a field a few levels at most. The limit keeps a forged header from exhausting the stack in
  // parse_record_type().
  constexpr int kDeepest = 32;
  std::string json;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (c == '\'' || c == '"') {
      json += json_string(text, at, source);
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      if (++depth > kDeepest) throw_damaged(source, "nested too deeply");
      json += c == '(' ? '[' : c;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
      while (json.ends_with(' ')) json.pop_back();
      if (json.ends_with(',')) json.pop_back();
      json += c == ')' ? ']' : c;
    } else if (rest.starts_with("True") || rest.starts_with("False")) {
      json += c == 'T' ? "true" : "false";
      at += c == 'T' ? 3 : 4;
    } else if (c == 'L' && !json.empty() && is_digit(json.back())) {
      // Python 2 marks long integers with L.
    } else if (c == '\0') {
      json += '?';  // the parser would end at NUL, whatever follows
    } else {
      json += c == '\n' || c == '\t' ? ' ' : c;
    }
    ++at;
  }
  Literal literal = Literal::parse(json, nullptr, /*allow_exceptions=*/false);
  if (literal.is_discarded()) throw_damaged(source, "it is no literal of Python that is complete");
  return literal;
}

/// Returns the type for numpy's code of a kind and a size, such as 'f4'.
std::optional<ValueType> number_type(char kind, std::uint64_t bytes) {
  constexpr std::array<std::string_view, 11> kTypes{"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"};
  if (kind == 'b' && bytes == 1) return ValueType::unsigned8;
  const auto found = std::find(kTypes.begin(), kTypes.end(), kind + std::to_string(bytes));
  return found == kTypes.end() ? std::nullopt : std::optional(static_cast<ValueType>(found - kTypes.begin()));
}

/// Parses a type such as '<f8': byte order, kind, size.
NpyType parse_type(std::string_view text, const Source& source) {
  NpyType type{.name = show_text(text)};
  std::string_view rest = text;
  if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
    type.big_endian = rest.front() == '>' || (rest.front() != '<' && std::endian::native == std::endian::big);
    rest.remove_prefix(1);
  }
  if (rest.empty()) throw_damaged(source, fmt::format("{} is no type", type.name));
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == 'O') {
    throw source.error("the array holds Python objects, not numbers; convert it with astype('float64') first");
  }
  if (rest.empty() && kind == '?') {
    type.number = ValueType::unsigned8;
    type.bytes = 1;
    return type;
  }
  std::uint64_t size = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
  const bool has_unit = kind == 'M' || kind == 'm';  // '<M8[ns]'
  if (rest.empty() || code != std::errc{} || (end != rest.data() + rest.size() && !(has_unit && *end == '['))) {
    throw_damaged(source, fmt::format("{} is no type", type.name));
  }
  type.bytes = kind == 'U' ? multiply_sizes(size, 4, source) : size;
  type.number = number_type(kind, type.bytes);
  return type;
}

/// Returns the extents in a tuple; `what` names it in errors.
std::vector<std::uint64_t> extents_of(const Literal& tuple, std::string_view what, const Source& source) {
  const bool is_shape = tuple.is_array() && std::all_of(tuple.begin(), tuple.end(),
                                                        [](const Literal& axis) { return axis.is_number_unsigned(); });
  if (!is_shape) throw_damaged(source, fmt::format("{} is no tuple of numbers", what));
  return tuple.get<std::vector<std::uint64_t>>();
}

std::uint64_t element_count(const Literal& shape, const Source& source) {
  if (shape.is_number_unsigned()) return shape.get<std::uint64_t>();
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents_of(shape, "a sub-array's shape", source)) {
    count = multiply_sizes(count, extent, source);
  }
  return count;
}

struct RecordType {
  std::vector<NpyField> fields;  ///< without padding
  std::uint64_t bytes = 0;
};

/// Parses a structured type: [(name, type), (name, type, shape), …], where a name may be (title, name) and a type a
/// list again.
RecordType parse_record_type(const Literal& list, const Source& source) {
  RecordType record;
  for (const Literal& entry : list) {
    if (!entry.is_array() || entry.size() < 2 || entry.size() > 3) {
      throw_damaged(source, "a field is not (name, type) or (name, type, shape)");
    }
    const Literal& name = entry[0].is_array() && entry[0].size() == 2 ? entry[0][1] : entry[0];
    if (!name.is_string()) throw_damaged(source, "a field's name is no text");
    NpyType type;
    if (entry[1].is_string()) {
      type = parse_type(entry[1].get_ref<const std::string&>(), source);
    } else if (entry[1].is_array()) {
      type.name = "a nested record";
      type.bytes = parse_record_type(entry[1], source).bytes;
    } else {
      throw_damaged(source, "a field's type is neither text nor a list");
    }
    if (entry.size() == 3) {
      type.elements = element_count(entry[2], source);
      type.bytes = multiply_sizes(type.bytes, type.elements, source);
      type.name = "a sub-array of " + type.name;
    }
    const std::uint64_t offset = record.bytes;
    record.bytes += type.bytes;
    if (record.bytes < offset) throw_damaged(source, "the sizes in it do not fit 64 bits");
    // Alignment gaps, which numpy writes as fields without a name, are left out.
    if (name != "") record.fields.push_back({name, std::move(type), offset});
  }
  return record;
}

void read_all(ByteStream& stream, std::span<char> to, const Source& source) {
  if (stream.read(to) != to.size()) throw_damaged(source, "it ends early");
}

std::string utf8_of_latin1(std::string_view text) {
  std::string utf8;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) utf8 += static_cast<char>(0xC0 | code >> 6);
    utf8 += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3F) : code);
  }
  return utf8;
}

struct Dictionary {
  std::string text;         ///< in UTF-8
  std::uint64_t bytes = 0;  ///< bytes of the file up to the end of the dictionary
};

/// Reads the dictionary at the beginning of the file.
Dictionary read_dictionary(ByteStream& stream, const Source& source) {
  if (!is_npy(stream.peek())) {
    throw source.error("not an NPY file: it does not begin with \\x93NUMPY; name it by its kind");
  }
  std::array<char, 8> prefix{};
  read_all(stream, prefix, source);
  const int major = static_cast<unsigned char>(prefix[6]);
  if (major < 1 || major > 3) {
    throw source.error("NPY version {} is unknown; 1, 2 and 3 can be read: save it with a current numpy", major);
  }
  std::array<char, 4> size{};
  const std::size_t size_bytes = major == 1 ? 2 : 4;
  read_all(stream, std::span(size).first(size_bytes), source);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(size[i])} << (8 * i);
  }
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  const std::uint64_t begin = 8 + size_bytes;
  const std::uint64_t most = stream.size() ? *stream.size() - std::min(*stream.size(), begin) : kMostBytes;
  if (length > std::min(most, kMostBytes)) {
    throw_damaged(source, fmt::format("it should be {} bytes long, but has {} at most", length, most));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read_all(stream, text, source);
  return {major < 3 ? utf8_of_latin1(text) : std::move(text), begin + length};
}

void set_type(NpyHeader& header, const Literal& descr, const Source& source) {
  if (descr.is_string()) {
    header.type = parse_type(descr.get_ref<const std::string&>(), source);
    header.row_bytes = header.type.bytes;
  } else if (descr.is_array()) {
    RecordType record = parse_record_type(descr, source);
    header.is_record = true;
    header.fields = std::move(record.fields);
    header.row_bytes = record.bytes;
  } else {
    throw_damaged(source, "descr is neither a type nor a list of fields");
  }
}

}  // namespace

bool is_npy(std::span<const char> bytes) noexcept {
  return std::string_view(bytes.data(), bytes.size()).starts_with(kMagic);
}

std::uint64_t multiply_sizes(std::uint64_t a, std::uint64_t b, const Source& source) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) {
    throw_damaged(source, "the sizes in it do not fit 64 bits");
  }
  return a * b;
}

NpyHeader read_npy_header(ByteStream& stream, const Source& source) {
  const Dictionary dictionary = read_dictionary(stream, source);
  const Literal dict = parse_literal(dictionary.text, source);
  if (!dict.is_object()) throw_damaged(source, "it is no dictionary");
  if (!dict.contains("descr") || !dict.contains("fortran_order") || !dict.contains("shape")) {
    throw_damaged(source, "it lacks descr, fortran_order or shape");
  }
  NpyHeader header;
  if (stream.size()) header.data_bytes = *stream.size() - std::min(*stream.size(), dictionary.bytes);
  set_type(header, dict["descr"], source);
  if (!dict["fortran_order"].is_boolean()) throw_damaged(source, "fortran_order is neither True nor False");
  header.fortran_order = dict["fortran_order"];
  header.shape = extents_of(dict["shape"], "the shape", source);
  return header;
}

}  // namespace epsflow::io
