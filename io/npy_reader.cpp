#include <epsflow/io/npy_reader.hpp>

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/binary_columns.hpp>

namespace epsflow::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void throw_damaged(const Source& source, std::string_view why) {
  throw InputError(fmt::format("{}: damaged NPY header: {}; write the file again with numpy.save", source.name, why));
}

/// A value of the Python literal that an NPY header is: text, number, truth value, or a list or tuple of values.
struct Literal {
  struct Sequence {
    std::vector<Literal> items;
    bool is_list = false;
  };
  struct Dict {
    std::vector<std::pair<std::string, Literal>> entries;
  };
  std::variant<std::string, std::uint64_t, bool, Sequence, Dict> value;

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&value);
  }
};

/// Recursive descent over the subset of Python's literals that numpy writes into headers.
class LiteralParser {
 public:
  LiteralParser(std::string_view text, const Source& source) : text_(text), source_(source) {}

  Literal parse_all() {
    Literal literal = parse(0);
    skip_blanks();
    if (at_ < text_.size()) throw_damaged(source_, "text follows the dictionary");
    return literal;
  }

 private:
  // numpy nests a field's type a few levels at most; the bound keeps a forged header off the end of the stack.
  static constexpr int kDeepest = 32;

  Literal parse(int depth) {
    if (depth > kDeepest) throw_damaged(source_, "nested too deeply");
    skip_blanks();
    if (at_ == text_.size()) throw_damaged(source_, "it ends early");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return {parse_string()};
    if (c == '(' || c == '[') return {parse_sequence(depth)};
    if (c == '{') return {parse_dict(depth)};
    if (c >= '0' && c <= '9') return {parse_integer()};
    if (accept("True")) return {true};
    if (accept("False")) return {false};
    throw_damaged(source_, fmt::format("unexpected {}", show_text(text_.substr(at_, 8))));
  }

  std::string parse_string() {
    const char quote = text_[at_++];
    std::string result;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      // repr escapes quotes and backslashes; other escapes occur in no name that could be typed, and stay as written.
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                           (text_[at_ + 1] == '\\' || text_[at_ + 1] == '\'' || text_[at_ + 1] == '"');
      if (escaped) ++at_;
      result += text_[at_];
    }
    if (at_ == text_.size()) throw_damaged(source_, "a text in it is not closed");
    ++at_;
    return result;
  }

  std::uint64_t parse_integer() {
    std::uint64_t number = 0;
    const char* const first = text_.data() + at_;
    const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), number);
    if (code != std::errc{}) throw_damaged(source_, "a number in it does not fit 64 bits");
    at_ += static_cast<std::size_t>(end - first);
    (void)accept("L");  // Python 2 wrote long integers so
    return number;
  }

  Literal::Sequence parse_sequence(int depth) {
    Literal::Sequence sequence{.items = {}, .is_list = text_[at_] == '['};
    const char close = sequence.is_list ? ']' : ')';
    ++at_;
    while (!accept_close(close)) {
      sequence.items.push_back(parse(depth + 1));
      require_separator(close);
    }
    return sequence;
  }

  Literal::Dict parse_dict(int depth) {
    Literal::Dict dict;
    ++at_;
    while (!accept_close('}')) {
      if (text_[at_] != '\'' && text_[at_] != '"') throw_damaged(source_, "a key in it is no text");
      std::string key = parse_string();
      skip_blanks();
      if (!accept(":")) throw_damaged(source_, "a colon is missing");
      dict.entries.emplace_back(std::move(key), parse(depth + 1));
      require_separator('}');
    }
    return dict;
  }

  /// Past blanks, whether the closing character is next; steps over it.
  bool accept_close(char close) {
    skip_blanks();
    if (at_ == text_.size()) throw_damaged(source_, "it ends early");
    if (text_[at_] != close) return false;
    ++at_;
    return true;
  }

  void require_separator(char close) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == close) return;
    if (!accept(",")) throw_damaged(source_, "a comma is missing");
  }

  bool accept(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void skip_blanks() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const Source& source_;
};

/// The type of an array element or of a field.
struct ElementType {
  std::string name;  ///< as errors show it
  std::optional<ValueType> number;
  bool big_endian = false;
  std::uint64_t bytes = 0;
};

struct NpyField {
  std::string name;
  ElementType type;
  std::uint64_t offset = 0;
};

std::optional<ValueType> number_type(char kind, std::uint64_t bytes) noexcept {
  constexpr std::string_view kSizes = "1248";
  const std::size_t size = bytes < 10 ? kSizes.find(static_cast<char>('0' + bytes)) : std::string_view::npos;
  if (size == std::string_view::npos) return std::nullopt;
  const auto offset_from = [&](ValueType first) {
    return static_cast<ValueType>(static_cast<std::size_t>(first) + size);
  };
  if (kind == 'i') return offset_from(ValueType::signed8);
  if (kind == 'u') return offset_from(ValueType::unsigned8);
  if (kind == 'f' && bytes == 4) return ValueType::float32;
  if (kind == 'f' && bytes == 8) return ValueType::float64;
  if (kind == 'b' && bytes == 1) return ValueType::unsigned8;
  return std::nullopt;
}

/// Sizes come from the header, so that an overflow is the file's fault.
std::uint64_t add_sizes(std::uint64_t a, std::uint64_t b, const Source& source) {
  if (a + b < a) throw_damaged(source, "the sizes in it do not fit 64 bits");
  return a + b;
}

std::uint64_t multiply_sizes(std::uint64_t a, std::uint64_t b, const Source& source) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) {
    throw_damaged(source, "the sizes in it do not fit 64 bits");
  }
  return a * b;
}

/// A type such as '<f8': byte order, kind, size.
ElementType parse_type(std::string_view text, const Source& source) {
  ElementType type{.name = show_text(text), .number = {}, .big_endian = false, .bytes = 0};
  std::string_view rest = text;
  if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
    type.big_endian = rest.front() == '>' || (rest.front() != '<' && std::endian::native == std::endian::big);
    rest.remove_prefix(1);
  }
  if (rest.empty()) throw_damaged(source, fmt::format("{} is no type", type.name));
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == 'O') {
    throw InputError(source.name +
                     ": the array holds Python objects, not numbers; convert it with astype('float64') first");
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

std::uint64_t element_count(const Literal& shape, const Source& source) {
  if (const auto* one = shape.as<std::uint64_t>()) return *one;
  const auto* sequence = shape.as<Literal::Sequence>();
  if (sequence == nullptr) throw_damaged(source, "a sub-array has no shape");
  std::uint64_t count = 1;
  for (const Literal& axis : sequence->items) {
    const auto* size = axis.as<std::uint64_t>();
    if (size == nullptr) throw_damaged(source, "a sub-array's shape is no tuple of numbers");
    count = multiply_sizes(count, *size, source);
  }
  return count;
}

struct RecordType {
  std::vector<NpyField> fields;  ///< without padding
  std::uint64_t bytes = 0;
};

/// A structured type: [(name, type), (name, type, shape), …], where a name may be (title, name) and a type a list
/// again.
RecordType parse_record_type(const Literal::Sequence& list, const Source& source) {
  RecordType record;
  for (const Literal& item : list.items) {
    const auto* entry = item.as<Literal::Sequence>();
    if (entry == nullptr || entry->items.size() < 2 || entry->items.size() > 3) {
      throw_damaged(source, "a field is not (name, type) or (name, type, shape)");
    }
    const Literal* name = &entry->items[0];
    if (const auto* titled = name->as<Literal::Sequence>(); titled != nullptr && titled->items.size() == 2) {
      name = &titled->items[1];
    }
    if (name->as<std::string>() == nullptr) throw_damaged(source, "a field's name is no text");
    ElementType type;
    if (const auto* text = entry->items[1].as<std::string>()) {
      type = parse_type(*text, source);
    } else if (const auto* nested = entry->items[1].as<Literal::Sequence>()) {
      type.name = "a nested record";
      type.bytes = parse_record_type(*nested, source).bytes;
    } else {
      throw_damaged(source, "a field's type is neither text nor a list");
    }
    if (entry->items.size() == 3) {
      type.bytes = multiply_sizes(type.bytes, element_count(entry->items[2], source), source);
      type.name = "a sub-array of " + type.name;
      type.number.reset();
    }
    const std::uint64_t offset = record.bytes;
    record.bytes = add_sizes(offset, type.bytes, source);
    // numpy writes alignment gaps as fields without a name.
    if (!name->as<std::string>()->empty()) record.fields.push_back({*name->as<std::string>(), std::move(type), offset});
  }
  return record;
}

struct NpyHeader {
  Literal descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::span<const char> data;
};

/// The part of the file that holds the dictionary, and where the data begin.
std::pair<std::string_view, std::size_t> find_dictionary(std::span<const char> bytes, const Source& source) {
  if (!is_npy(bytes)) {
    throw InputError(source.name + ": not an NPY file: it does not begin with \\x93NUMPY; name it by its kind");
  }
  if (bytes.size() < 10) throw_damaged(source, "it ends early");
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) {
    throw InputError(fmt::format("{}: NPY version {} is unknown; 1, 2 and 3 can be read: save it with a current numpy",
                                 source.name, major));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) throw_damaged(source, "it ends early");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  }
  const std::size_t begin = 8 + length_bytes;
  if (length > bytes.size() - begin) {
    throw_damaged(source, fmt::format("it should be {} bytes long, but {} follow", length, bytes.size() - begin));
  }
  const auto size = narrow<std::size_t>(length);
  return {std::string_view(bytes.data() + begin, size), begin + size};
}

NpyHeader parse_header(std::span<const char> bytes, const Source& source) {
  const auto [text, data_begin] = find_dictionary(bytes, source);
  Literal root = LiteralParser(text, source).parse_all();
  auto* dict = std::get_if<Literal::Dict>(&root.value);
  if (dict == nullptr) throw_damaged(source, "it is no dictionary");
  NpyHeader header;
  header.data = bytes.subspan(data_begin);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  for (auto& [key, literal] : dict->entries) {
    if (key == "descr") {
      header.descr = std::move(literal);
      has_descr = true;
    } else if (key == "fortran_order") {
      const bool* order = literal.as<bool>();
      if (order == nullptr) throw_damaged(source, "fortran_order is neither True nor False");
      header.fortran_order = *order;
      has_order = true;
    } else if (key == "shape") {
      const auto* sequence = literal.as<Literal::Sequence>();
      if (sequence == nullptr) throw_damaged(source, "the shape is no tuple");
      header.shape.clear();
      for (const Literal& axis : sequence->items) {
        const auto* size = axis.as<std::uint64_t>();
        if (size == nullptr) throw_damaged(source, "the shape is no tuple of numbers");
        header.shape.push_back(*size);
      }
      has_shape = true;
    }
  }
  if (!has_descr || !has_order || !has_shape) throw_damaged(source, "it lacks descr, fortran_order or shape");
  return header;
}

/// What errors say about an element type that is no plain number.
std::string describe_type(const ElementType& type) {
  if (type.name == "'<f2'" || type.name == "'>f2'")
    return type.name + " (half precision: convert it with astype('float32'))";
  return type.name;
}

void require_bytes(const NpyHeader& header, std::uint64_t expected, const Source& source) {
  if (expected > header.data.size()) {
    throw InputError(
        fmt::format("{}: truncated: the header tells of {} bytes of data, but there are {}; fetch or write "
                    "it again",
                    source.name, expected, header.data.size()));
  }
}

Points read_structured(const NpyHeader& header, const Literal::Sequence& descr, const Source& source) {
  if (header.shape.size() != 1) {
    throw InputError(
        fmt::format("{}: a structured array must have one axis to be points, but it has {}; save it as "
                    "array.ravel()",
                    source.name, header.shape.size()));
  }
  const RecordType record = parse_record_type(descr, source);
  ColumnList available{.count = record.fields.size(), .names = {}};
  for (const NpyField& field : record.fields) available.names.push_back(field.name);
  const std::vector<std::size_t> selected = select_columns(source, available);
  std::vector<BinaryColumn> columns;
  for (const std::size_t i : selected) {
    const NpyField& field = record.fields[i];
    if (!field.type.number) throw_not_numeric(source, available, i, describe_type(field.type));
    columns.push_back({*field.type.number, field.type.big_endian, field.offset, record.bytes});
  }
  require_bytes(header, multiply_sizes(header.shape[0], record.bytes, source), source);
  Points points = points_from_columns(header.data, header.shape[0], columns, source);
  points.column_names = selected_names(available, selected);
  points.column_numbers = selected;
  return points;
}

Points read_plain(const NpyHeader& header, const std::string& descr, const Source& source) {
  const ElementType type = parse_type(descr, source);
  if (!type.number) {
    throw InputError(fmt::format("{}: the array holds {}, not plain numbers; convert it with astype('float64') first",
                                 source.name, describe_type(type)));
  }
  if (header.shape.empty() || header.shape.size() > 2) {
    throw InputError(
        fmt::format("{}: points need one axis or two (rows, columns), but the array has {}; reshape it first",
                    source.name, header.shape.size()));
  }
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t width = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::uint64_t values = multiply_sizes(rows, width, source);
  require_bytes(header, multiply_sizes(values, type.bytes, source), source);
  // Without rows no bytes vouch for the width, so that it is bounded here, before a list of columns is made of it.
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;
  if (width > kMostColumns) {
    throw InputError(fmt::format("{}: {} columns, but points have at most {} dimensions; transpose the array",
                                 source.name, width, kMaxDims));
  }
  const ColumnList available{.count = narrow<std::size_t>(width), .names = {}};
  const std::vector<std::size_t> selected = select_columns(source, available);
  std::vector<BinaryColumn> columns;
  columns.reserve(selected.size());
  for (const std::size_t i : selected) {
    columns.push_back(header.fortran_order
                          ? BinaryColumn{*type.number, type.big_endian, i * rows * type.bytes, type.bytes}
                          : BinaryColumn{*type.number, type.big_endian, i * type.bytes, width * type.bytes});
  }
  Points points = points_from_columns(header.data, rows, columns, source);
  points.column_numbers = selected;
  return points;
}

}  // namespace

bool is_npy(std::span<const char> bytes) noexcept {
  return std::string_view(bytes.data(), bytes.size()).starts_with(kMagic);
}

Points read_npy(std::span<const char> bytes, const Source& source) {
  const NpyHeader header = parse_header(bytes, source);
  Points points;
  if (const auto* type = header.descr.as<std::string>()) {
    points = read_plain(header, *type, source);
  } else if (const auto* fields = header.descr.as<Literal::Sequence>()) {
    points = read_structured(header, *fields, source);
  } else {
    throw_damaged(source, "descr is neither a type nor a list of fields");
  }
  apply_nan_policy(points, source);
  return points;
}

}  // namespace epsflow::io
