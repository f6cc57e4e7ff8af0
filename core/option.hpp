// Options, said once: what an option is called in the library, the program and the Python package, which values it may have, and
// what it is for. Parsing, help, the manual page, completion, checks and the names in errors are all made of these tables.
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
  text,    ///< whoever reads it parses it
};

/// What is given for an option: nothing; a flag; a count or bytes; a factor; a word.
using OptionValue = std::variant<std::monostate, bool, std::uint64_t, double, std::string_view>;

/// What there is to say about an option. `kind`, `type` and `words` follow from the type of its field, see option().
struct OptionInfo {
  std::string_view library;           ///< in C++: "EngineOptions::memory"
  std::string_view program = {};      ///< in the program, without dashes; empty: it has none
  std::string_view python = {};       ///< in Python; empty: it has none
  std::string_view placeholder = {};  ///< what help writes for a value without words: "N"
  std::uint64_t least = 0;            ///< of a count
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  ///< of a count
  std::string_view zero = {};                                      ///< what a count of 0 stands for
  std::string_view standard = {};                                  ///< the default in words, where it is not a value
  bool may_be_empty = false;                                       ///< of a text
  std::string_view meaning = {};                                   ///< without a full stop
  OptionKind kind = OptionKind::text;
  std::string_view type = {};                    ///< of a choice in C++: "BackendChoice"
  std::span<const std::string_view> words = {};  ///< of a choice
};

/// An option that is a field of Owner.
template <class Owner>
struct Option : OptionInfo {
  /// The value of the field; nothing where it is left open. Null, as set, where whoever reads a text sets the field.
  OptionValue (*get)(const Owner&) = nullptr;
  /// Sets the field. The value must be one of the option's kind, and for a choice one of its words.
  void (*set)(Owner&, const OptionValue&) = nullptr;
};

/// The options that are fields of Owner, in the order in which help lists them. Specialised where Owner is declared.
template <class Owner>
[[nodiscard]] std::span<const Option<Owner>> options_of() noexcept;

/// Which counts there may be, to stand behind "… is 5000; ": "0 (one per core) to 4,096 are possible". zero: what 0 stands for.
[[nodiscard]] std::string range_of(std::uint64_t least, std::uint64_t most, std::string_view zero);

/// Throws UsageError where a value is out of the option's range, in the library's words.
void check_range(const OptionInfo& option, const OptionValue& value);

/// Throws UsageError naming the first field that is out of its range.
template <class Owner>
void check_ranges(const Owner& owner) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.get != nullptr) check_range(option, option.get(owner));
  }
}

/// The default of an option.
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

/// The option that `field(owner)`, a function object without state, is in an Owner.
template <class Owner, class Field>
[[nodiscard]] constexpr Option<Owner> option(OptionInfo info, Field) {
  using T = std::remove_cvref_t<std::invoke_result_t<Field, Owner&>>;
  using Value = typename detail::Unwrapped<T>::type;
  if (info.kind != OptionKind::bytes) info.kind = detail::kind_of<Value>();
  if constexpr (std::is_enum_v<Value>) {
    info.type = Choice<Value>::type;
    info.words = kWords<Value>;
  }
  return {info,
          [](const Owner& owner) -> OptionValue {
            const auto& field = Field{}(owner);
            if constexpr (std::same_as<T, Value>) {
              return detail::value_of_field(field);
            } else {
              return field ? detail::value_of_field(*field) : OptionValue{};
            }
          },
          [](Owner& owner, const OptionValue& value) {
            auto& field = Field{}(owner);
            if constexpr (std::same_as<T, Value>) {
              detail::set_field(field, value);
            } else {
              detail::set_field(field.emplace(), value);
            }
          }};
}

}  // namespace epsflow
