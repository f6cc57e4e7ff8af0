#include <epsflow/cli/arguments.hpp>

#include <algorithm>
#include <boost/program_options.hpp>
#include <stdexcept>

#include <epsflow/core/option.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kOperand = "operand";

po::options_description description_of(const Command& command) {
  po::options_description description;
  for_each_name(command, [&](const OptionSpec& option, std::string name) {
    if (option.letter != '\0' && name == option.name) name += std::string{',', option.letter};
    if (option.kind == ValueKind::flag) {
      description.add_options()(name.c_str(), po::bool_switch());
    } else {
      description.add_options()(name.c_str(), po::value<std::string>());
    }
  });
  description.add_options()(kOperand, po::value<Words>());
  return description;
}

Words names_of(const Command& command) {
  Words names;
  for_each_name(command, [&](const OptionSpec&, const std::string& name) { names.push_back(name); });
  return names;
}

std::string see_help(const Command& command) { return "; see epsflow " + command.name + " --help"; }

/// Returns the option as the user writes it. name: from Boost, with or without dashes.
std::string dashed(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  return (name.size() == 1 ? "-" : "--") + std::string(name);
}

[[noreturn]] void throw_unknown(const Command& command, const std::string& reported) {
  const std::string given = reported.substr(0, reported.find('='));
  const std::string name = dashed(given);
  if (given.starts_with('-') && given != name && find_option(command, std::string_view(name).substr(2)) != nullptr) {
    throw UsageError(given + " is written " + name + see_help(command));
  }
  const std::string meant = name.starts_with("--") ? nearest(std::string_view(name).substr(2), names_of(command)) : "";
  throw UsageError(command.name + " has no option " + name +
                   (meant.empty() ? "" : "; did you mean " + dashed(meant) + "?") + see_help(command));
}

std::vector<po::option> parse_words(const Command& command, const Words& words) {
  const po::options_description description = description_of(command);
  po::positional_options_description positional;
  positional.add(kOperand, -1);
  // Abbreviations are refused, because their meaning could change whenever an option is added.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(words).options(description).positional(positional).style(style).run().options;
  } catch (const po::unknown_option& e) {
    throw_unknown(command, e.get_option_name());
  } catch (const po::invalid_command_line_syntax& e) {
    const std::string name = dashed(e.get_option_name());
    if (e.kind() == po::invalid_syntax::extra_parameter) {
      throw UsageError(name + " takes no value" + see_help(command));
    }
    throw UsageError(name + " has no value" + see_help(command));
  } catch (const po::error& e) {
    throw UsageError(e.what() + see_help(command));
  }
}

/// Returns whether a word is spelled like an option of the command. It is not a value, although Boost accepts it.
bool is_option(const Command& command, std::string_view word) {
  if (word.starts_with("--")) return find_option(command, word.substr(2, word.find('=') - 2)) != nullptr;
  if (word.size() != 2 || word.front() != '-') return false;
  bool found = false;
  for_each_name(command, [&](const OptionSpec& option, const auto&) { found |= option.letter == word.back(); });
  return found;
}

std::string range_of(const OptionSpec& option) { return epsflow::range_of(option.least, option.most, option.zero); }

void check_integer(const OptionSpec& option, const std::string& value) {
  const bool is_signed = value.starts_with('-') || value.starts_with('+');
  const std::string_view digits = std::string_view(value).substr(is_signed ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    throw usage_error("--{} is '{}', no whole number; {}", option.name, value, range_of(option));
  }
  const auto number = io::number_in<std::uint64_t>(digits);
  if (value.starts_with('-') || !number || *number < option.least || *number > option.most) {
    throw usage_error("--{} is {}; {}", option.name, value, range_of(option));
  }
}

Words words_of(const Command& command, const OptionValues& options, const Words& operands) {
  Words words;
  for (const auto& [name, value] : options) {
    words.push_back("--" + name);
    if (find_option(command, name)->kind != ValueKind::flag) words.push_back(value);
  }
  words.emplace_back("--");
  words.insert(words.end(), operands.begin(), operands.end());
  return words;
}

std::string enumerate(const Words& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

OptionGroup message_options() {
  return {"Messages",
          {flag("json", "print the result as JSON on standard output"),
           {.name = "quiet",
            .letter = 'q',
            .kind = ValueKind::flag,
            .help = "print nothing but errors, and with --json the result"},
           help_option().options.front()}};
}

OptionGroup help_option() {
  return {"Help", {{.name = "help", .letter = 'h', .kind = ValueKind::flag, .help = "this text"}}};
}

Messages parse_messages(const Arguments& arguments) { return {arguments.given("json"), arguments.given("quiet")}; }

Arguments::Arguments(const Command& command, const Words& words) : command_(&command) {
  for (const po::option& word : parse_words(command, words)) {
    if (word.string_key == kOperand) {
      operands_.insert(operands_.end(), word.value.begin(), word.value.end());
      continue;
    }
    const OptionSpec* option = find_option(command, word.string_key);
    if (option == nullptr) throw std::logic_error("option " + word.string_key + " is in no group");
    const std::string value = option->kind == ValueKind::flag ? "true" : word.value.front();
    if (!values_.emplace(option->name, value).second) {
      further_[option->name].push_back(value);
      if (!option->several)
        throw UsageError("--" + option->name + (option->alias.empty() ? "" : " (or --" + option->alias + ")") +
                         " is given twice; give it once");
    }
    if (option->kind != ValueKind::flag) check(*option, value);
  }
  for (const std::string& operand : operands_) {
    if (operand.empty()) throw UsageError("one " + command.operand.name + " is empty" + see_help(command));
  }
  if (!operands_.empty() && command.operand.name.empty()) {
    throw UsageError(command.name + " takes no '" + operands_.front() + "'" + see_help(command));
  }
}

Arguments::Arguments(const Command& command, const OptionValues& options, const Words& operands)
    : Arguments(command, words_of(command, options, operands)) {}

void Arguments::check(const OptionSpec& option, const std::string& value) const {
  if (value.empty()) {
    if (option.may_be_empty) return;
    throw UsageError("--" + option.name + " is empty; it needs " + value_name(option) + see_help(*command_));
  }
  if (is_option(*command_, value)) throw UsageError("--" + option.name + " has no value" + see_help(*command_));
  if (option.kind == ValueKind::integer) check_integer(option, value);
  if (option.kind == ValueKind::size && !parse_bytes(value)) {
    throw UsageError("--" + option.name + " '" + value + "' is no size; write 8G, 512M or a number of bytes");
  }
  if (option.kind == ValueKind::word &&
      std::find(option.words.begin(), option.words.end(), value) == option.words.end()) {
    const std::string meant = nearest(value, option.words);
    throw usage_error("--{} '{}' is unknown{}; choose one of {}", option.name, value,
                      meant.empty() ? "" : "; did you mean " + meant + "?", fmt::join(option.words, ", "));
  }
}

Words Arguments::texts(std::string_view name) const {
  Words values;
  if (given(name)) values.push_back(text(name));
  if (const auto at = further_.find(name); at != further_.end()) {
    values.insert(values.end(), at->second.begin(), at->second.end());
  }
  return values;
}

const std::string& Arguments::text(std::string_view name) const {
  const auto at = values_.find(name);
  if (at != values_.end()) return at->second;
  const OptionSpec* option = find_option(*command_, name);
  if (option == nullptr) throw std::logic_error(command_->name + " has no option " + std::string(name));
  return option->standard;
}

std::uint64_t Arguments::number(std::string_view name) const {
  const std::string_view value = text(name);
  return io::number_in<std::uint64_t>(value.substr(value.starts_with('+') ? 1 : 0)).value_or(0);
}

double Arguments::decimal(std::string_view name, std::string_view what, bool (*allowed)(double)) const {
  const std::string& given = text(name);
  if (const auto value = io::number_in<double>(given); value && allowed(*value)) return *value;
  throw usage_error("--{} is '{}'; it is {}", name, given, what);
}

std::uint64_t Arguments::size(std::string_view name) const { return parse_bytes(text(name)).value_or(0); }

void Arguments::require(const Words& names) const {
  Words missing;
  if (!command_->operand.name.empty() && operands_.empty()) missing.push_back(command_->operand.name);
  for (const std::string_view name : names) {
    if (!given(name)) missing.push_back("--" + std::string(name));
  }
  if (missing.empty()) return;
  throw UsageError(enumerate(missing) + (missing.size() == 1 ? " is missing" : " are missing") +
                   "; for example: " + command_->example);
}

}  // namespace epsflow::cli
