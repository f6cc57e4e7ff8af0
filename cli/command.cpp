#include <epsflow/cli/command.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace epsflow::cli {
namespace {

/// Returns the number of letters to insert, delete or change to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

OptionSpec flag(std::string name, std::string help) {
  return {.name = std::move(name), .kind = ValueKind::flag, .help = std::move(help)};
}

OptionSpec text_option(std::string name, std::string value, std::string help, std::string standard) {
  return {.name = std::move(name), .value = std::move(value), .standard = std::move(standard), .help = std::move(help)};
}

OptionSpec count_option(std::string name, std::uint64_t least, std::string standard, std::string help) {
  return {.name = std::move(name),
          .kind = ValueKind::integer,
          .value = "N",
          .least = least,
          .standard = std::move(standard),
          .help = std::move(help)};
}

OptionSpec word_option(std::string name, Words words, std::string standard, std::string help) {
  return {.name = std::move(name),
          .kind = ValueKind::word,
          .words = std::move(words),
          .standard = std::move(standard),
          .help = std::move(help)};
}

OptionSpec input_file(std::string name, std::string help) {
  return {.name = std::move(name), .kind = ValueKind::file, .value = "FILE", .help = std::move(help)};
}

OptionSpec output_file(std::string name, std::string help, std::string value) {
  OptionSpec option = input_file(std::move(name), std::move(help));
  option.value = std::move(value);
  option.writes = true;
  return option;
}

OptionSpec folder_option(std::string name, std::string help, bool writes) {
  return {
      .name = std::move(name), .kind = ValueKind::folder, .value = "FOLDER", .writes = writes, .help = std::move(help)};
}

OptionSpec minpts_option(std::string value, std::string help) {
  return {.name = "minpts", .alias = "min-samples", .value = std::move(value), .help = std::move(help)};
}

OptionSpec several(OptionSpec option) {
  option.several = true;
  return option;
}

std::string in_quotes(std::string_view text, std::string_view quote) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(quote) : std::string(1, c);
  return out + "'";
}

std::string value_name(const OptionSpec& option) {
  return option.words.empty() ? option.value : fmt::format("{}", fmt::join(option.words, "|"));
}

std::string describe(const OptionSpec& option) {
  if (option.standard.empty()) return option.help;
  const bool zero = option.standard == "0" && !option.zero.empty();
  return fmt::format("{} (default: {}{})", option.help, option.standard, zero ? ", " + option.zero : "");
}

const OptionSpec* find_option(const Command& command, std::string_view name) {
  for (const OptionGroup& group : command.groups) {
    for (const OptionSpec& option : group.options) {
      if (option.name == name || (!option.alias.empty() && option.alias == name)) return &option;
    }
  }
  return nullptr;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // The beginning of a word counts as one misspelling, however much is missing.
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace epsflow::cli
