#include <epsflow/cli/options.hpp>

#include <cctype>

#include <epsflow/core/metric.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {
namespace {

/// A phrase of the library and its replacement on the command line.
struct Phrase {
  std::string library;
  std::string program;
  bool is_option = true;  ///< whether " = " and a value may follow
};

template <class Owner>
void add_phrases(std::vector<Phrase>& phrases) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.program.empty()) continue;
    phrases.push_back({std::string(option.library), "--" + std::string(option.program)});
    for (const std::string_view word : option.words) {
      const std::string_view value = word == "auto" ? "automatic" : word;
      phrases.push_back({std::string(option.type) + "::" + std::string(value), std::string(word), false});
    }
  }
}

const std::vector<Phrase>& all_phrases() {
  static const std::vector<Phrase> all = [] {
    // These phrases are in no table: options of the program alone, and library names without an option.
    std::vector<Phrase> phrases{{"GeneratorOptions::seed", "--seed"},
                                {"GeneratorOptions::dims", "--dims"},
                                {"GeneratorOptions::rate", "--rate"},
                                {"FolderMode::resume", "--resume"},
                                {"FolderMode::overwrite", "--overwrite"},
                                {"Overwrite::replace", "--overwrite"},
                                {"ReadOptions::memory", "--memory"},
                                {"ReadOptions::external_storage = true", "--external"},
                                {"SearchOptions::estimate_factor", "the factor of estimates"},
                                {"RunOptions::labels", "where labels are left"},
                                {"RunOptions::clusters", "--lineage"}};
    add_phrases<EngineOptions>(phrases);
    add_phrases<RunOptions>(phrases);
    add_phrases<SearchOptions>(phrases);
    add_phrases<Metric>(phrases);
    add_phrases<io::ReadOptions>(phrases);
    add_phrases<parts::DeviceOptions>(phrases);
    return phrases;
  }();
  return all;
}

/// Returns the longest phrase that `text` begins with, or null.
const Phrase* longest(std::string_view text) {
  const Phrase* best = nullptr;
  for (const Phrase& phrase : all_phrases()) {
    if (text.starts_with(phrase.library) && (best == nullptr || phrase.library.size() > best->library.size())) {
      best = &phrase;
    }
  }
  return best;
}

ValueKind kind_of(OptionKind kind) {
  switch (kind) {
    case OptionKind::flag:
      return ValueKind::flag;
    case OptionKind::choice:
      return ValueKind::word;
    case OptionKind::count:
      return ValueKind::integer;
    case OptionKind::bytes:
      return ValueKind::size;
    default:
      return ValueKind::text;
  }
}

/// Returns a default as the user would write it; empty for a flag.
std::string text_of(const OptionValue& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return std::to_string(*count);
  if (const auto* word = std::get_if<std::string_view>(&value)) return std::string(*word);
  return {};
}

}  // namespace

OptionSpec spec_of(const OptionInfo& option, const OptionValue& standard) {
  const bool in_words = !option.standard.empty();
  const auto* count = std::get_if<std::uint64_t>(&standard);
  const bool must_be_given = count != nullptr && *count < option.least;
  return {
      .name = std::string(option.program),
      .kind = kind_of(option.kind),
      .value = std::string(option.placeholder),
      .words = {option.words.begin(), option.words.end()},
      .least = option.least,
      .most = option.most,
      .zero = std::string(option.zero),
      .standard = in_words || must_be_given ? "" : text_of(standard),
      .may_be_empty = option.may_be_empty,
      .help = in_program_words(option.meaning) + (in_words ? " (default: " + std::string(option.standard) + ")" : "")};
}

OptionValue given_value(const Arguments& arguments, const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::flag:
      return true;
    case OptionKind::count:
      return arguments.number(option.program);
    case OptionKind::bytes:
      return arguments.size(option.program);
    default:
      return std::string_view(arguments.text(option.program));
  }
}

std::string in_program_words(std::string_view text) {
  static constexpr std::string_view kAssigned = " = ";
  std::string words;
  while (!text.empty()) {
    const Phrase* phrase = longest(text);
    if (phrase == nullptr) {
      // Whole identifiers are skipped at once, so that no phrase matches in the middle of one.
      std::size_t taken = 1;
      if (std::isalnum(static_cast<unsigned char>(text.front())) != 0) {
        while (taken < text.size() && (std::isalnum(static_cast<unsigned char>(text[taken])) != 0)) ++taken;
      }
      words += text.substr(0, taken);
      text.remove_prefix(taken);
      continue;
    }
    words += phrase->program;
    text.remove_prefix(phrase->library.size());
    if (phrase->is_option && text.starts_with(kAssigned)) {
      words += ' ';
      text.remove_prefix(kAssigned.size());
    }
  }
  return words;
}

}  // namespace epsflow::cli
