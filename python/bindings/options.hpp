// Options by their names in Python: values from Python set the fields that the tables of core/option.hpp describe.
#pragma once

#include <algorithm>
#include <string_view>

#include "common.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::python {

/// Throws UsageError with the parameter and its words if `word` is not one of the words.
inline void check_word(std::string_view parameter, std::string_view word, std::span<const std::string_view> words) {
  if (std::ranges::find(words, word) != words.end()) return;
  std::string all;
  for (const std::string_view known : words) all += (all.empty() ? "'" : ", '") + std::string(known) + "'";
  throw UsageError(std::string(parameter) + "='" + std::string(word) + "' is none of " + all);
}

/// Returns the value of an enum for its word. parameter: its name in the error. Throws UsageError as check_word().
template <class T>
[[nodiscard]] T choice_named(std::string_view parameter, std::string_view word) {
  check_word(parameter, word, kWordsOf<T>);
  return choice_of<T>(word).value();
}

/// Sets the field of `owner` for the parameter, a flag, choice, count or size in bytes. Returns false if `owner` has no
/// such field. Throws UsageError as check_word(), nb::cast_error for a value of another type.
template <class Owner>
bool set_option(Owner& owner, std::string_view parameter, nb::handle value) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.python != parameter || option.set == nullptr) continue;
    if (option.kind == OptionKind::flag) {
      option.set(owner, nb::cast<bool>(value));
    } else if (option.kind == OptionKind::choice) {
      const auto word = nb::cast<std::string>(value);
      check_word(parameter, word, option.words);
      option.set(owner, std::string_view(word));
    } else {
      option.set(owner, nb::cast<std::uint64_t>(value));
    }
    return true;
  }
  return false;
}

/// Returns options with the given parameters, and defaults for all others. RunOptions also take the parameters of
/// RunOptions::search. Throws UsageError for an unknown parameter, and as set_option().
template <class Options>
[[nodiscard]] Options options_from(const nb::dict& given) {
  Options options;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    bool is_known = set_option(options, name, value);
    if constexpr (std::is_same_v<Options, RunOptions>) is_known = is_known || set_option(options.search, name, value);
    if (!is_known) throw UsageError("there is no option '" + name + "' here");
  }
  return options;
}

/// An option as epsflow._core.options() returns it: the library's name, the parameter, kind, words, largest count, and
/// the default word ("" if there is none).
using OptionRow =
    std::tuple<std::string, std::string, std::string, std::vector<std::string>, std::uint64_t, std::string>;

/// Appends the options of Owner that are parameters in Python.
template <class Owner>
void add_rows(std::vector<OptionRow>& rows) {
  static constexpr const char* kKinds[] = {"flag", "choice", "count", "bytes", "factor", "text"};
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.python.empty()) continue;
    const OptionValue standard = default_of(option);
    const auto* word = std::get_if<std::string_view>(&standard);
    rows.emplace_back(option.library, option.python, kKinds[static_cast<int>(option.kind)],
                      std::vector<std::string>(option.words.begin(), option.words.end()), option.most,
                      word == nullptr ? std::string() : std::string(*word));
  }
}

}  // namespace epsflow::python
