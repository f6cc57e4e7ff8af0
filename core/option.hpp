// Options that are fields of a struct. Each is described once: its names in C++, on the command line and in Python, its
// values and its purpose. Parsing, help, the manual page, completion, checks and the names in error messages all use
// these descriptions.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/choices.hpp>

namespace epsflow {

enum class OptionKind : std::uint8_t {
  flag,
  choice,  ///< one of `words`
  count,   ///< a whole number from `least` to `most`
  bytes,   ///< a size in memory
  factor,  ///< a finite number > 0
  text,    ///< any text; the code that uses it checks it
};

/// The value of an option. monostate: none; bool: a flag; uint64_t: a count or bytes; double: a factor; string_view:
/// one of `words`, which are static, or a text. A text that Option::get() returns refers to the field of the owner.
using OptionValue = std::variant<std::monostate, bool, std::uint64_t, double, std::string_view>;

/// The description of an option. option() sets `kind`, `type` and `words` by the type of the field. Only
/// OptionKind::bytes must be given, as its field has the type of a count. All texts must be static.
struct OptionInfo {
  std::string_view library;           ///< its name in C++: "EngineOptions::memory"
  std::string_view program = {};      ///< its name on the command line, without dashes; empty: not available there
  std::string_view python = {};       ///< its name in Python; empty: not available there
  std::string_view placeholder = {};  ///< placeholder of the value in the help: "N"; not needed for a choice or a flag
  std::uint64_t least = 0;            ///< the smallest count that is possible
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  ///< the largest count that is possible
  std::string_view zero = {};                                      ///< meaning of a count of 0: "one per core"
  /// Describes the default in the help, if the value of the field does not: "half of the machine's".
  std::string_view standard = {};
  bool may_be_empty = false;      ///< true if an empty text is possible
  std::string_view meaning = {};  ///< purpose of the option, without a full stop
  OptionKind kind = OptionKind::text;
  std::string_view type = {};                    ///< the type of a choice in C++: "BackendChoice"
  std::span<const std::string_view> words = {};  ///< the words of a choice
};

/// An option that is a field of Owner.
template <class Owner>
struct Option : OptionInfo {
  /// Reads the field; monostate if the field is an empty optional. `get` and `set` are both null for a text that other
  /// code parses and stores, such as a list.
  OptionValue (*get)(const Owner&) = nullptr;
  /// Sets the field; a text is copied. The value must be of the option's kind; for a choice it must be one of the
  /// words. Throws Error if a count does not fit the type of the field.
  void (*set)(Owner&, const OptionValue&) = nullptr;
};

/// Returns the options that are fields of Owner, in the order of help. Specialised where Owner is declared.
template <class Owner>
[[nodiscard]] std::span<const Option<Owner>> options_of() noexcept;

/// Returns the possible counts, as the end of an error message: after "EngineOptions::threads is 5000; " comes "0 (one
/// per core) to 4,096 are possible". zero: the meaning of 0.
[[nodiscard]] std::string range_of(std::uint64_t least, std::uint64_t most, std::string_view zero);

/// Throws UsageError if `value` is a count that is not from option.least to option.most, or a factor that is not a
/// finite number > 0. Any other value is accepted. The message names the option as in C++ (OptionInfo::library).
void check_range(const OptionInfo& option, const OptionValue& value);

/// Calls check_range() for all options of `owner`. Throws UsageError for the first that is out of its range.
template <class Owner>
void check_ranges(const Owner& owner) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.get != nullptr) check_range(option, option.get(owner));
  }
}

/// Returns the default of an option: the value of its field in Owner{}. monostate if `get` is null.
template <class Owner>
[[nodiscard]] OptionValue default_of(const Option<Owner>& option) {
  static const Owner defaults{};
  return option.get == nullptr ? OptionValue{} : option.get(defaults);
}

namespace detail {

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

template <class T>
inline constexpr bool kIsCount = std::unsigned_integral<T> && !std::same_as<T, bool>;

template <class T>
[[nodiscard]] constexpr OptionKind kind_of() noexcept {
  if constexpr (std::same_as<T, bool>) return OptionKind::flag;
  if constexpr (std::is_enum_v<T>) return OptionKind::choice;
  if constexpr (kIsCount<T>) return OptionKind::count;
  if constexpr (std::same_as<T, double>) return OptionKind::factor;
  return OptionKind::text;
}

template <class T>
[[nodiscard]] OptionValue value_of_field(const T& field) {
  if constexpr (std::is_enum_v<T>) return word_of(field);
  if constexpr (std::same_as<T, bool>) return field;
  if constexpr (kIsCount<T>) return std::uint64_t{field};
  if constexpr (std::same_as<T, double>) return field;
  if constexpr (std::same_as<T, std::string>) return std::string_view(field);
  if constexpr (std::same_as<T, char>) return std::string_view(&field, 1);
}

template <class T>
void set_field(T& field, const OptionValue& value) {
  if constexpr (std::is_enum_v<T>) {
    field = choice_of<T>(std::get<std::string_view>(value)).value();
  } else if constexpr (std::same_as<T, std::string>) {
    field = std::get<std::string_view>(value);
  } else if constexpr (std::same_as<T, char>) {
    field = std::get<std::string_view>(value).front();
  } else if constexpr (kIsCount<T>) {
    field = narrow<T>(std::get<std::uint64_t>(value));
  } else {
    field = std::get<T>(value);
  }
}

}  // namespace detail

/// Makes the Option for one field of Owner. The second argument is a lambda without captures that returns a reference
/// to the field: [](auto& owner) -> auto& { return owner.threads; }. Its type gives kind, type and words.
template <class Owner, class Field>
[[nodiscard]] constexpr Option<Owner> option(OptionInfo info, Field) {
  using FieldType = std::remove_cvref_t<std::invoke_result_t<Field, Owner&>>;
  using FieldValue = typename detail::Unwrapped<FieldType>::type;
  if (info.kind != OptionKind::bytes) info.kind = detail::kind_of<FieldValue>();
  if constexpr (std::is_enum_v<FieldValue>) {
    info.type = Choice<FieldValue>::kType;
    info.words = kWordsOf<FieldValue>;
  }
  return {info,
          [](const Owner& owner) -> OptionValue {
            const auto& field = Field{}(owner);
            if constexpr (std::same_as<FieldType, FieldValue>) {
              return detail::value_of_field(field);
            } else {
              return field ? detail::value_of_field(*field) : OptionValue{};
            }
          },
          [](Owner& owner, const OptionValue& value) {
            auto& field = Field{}(owner);
            if constexpr (std::same_as<FieldType, FieldValue>) {
              detail::set_field(field, value);
            } else {
              detail::set_field(field.emplace(), value);
            }
          }};
}

}  // namespace epsflow
