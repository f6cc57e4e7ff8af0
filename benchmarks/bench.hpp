// Shared code of the benchmark programs: words of the command line, clock, medians, and seconds of each stage.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/trace.hpp>

namespace epsflow::bench {

using Json = nlohmann::ordered_json;

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls work() warm_ups + repeat times. Returns the milliseconds of each call but the warm-ups.
std::vector<double> times_of(int warm_ups, int repeat, const auto& work) {
  std::vector<double> times;
  for (int i = 0; i < warm_ups + repeat; ++i) {
    const double took = 1e3 * seconds_of(work);
    if (i >= warm_ups) times.push_back(took);
  }
  return times;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// The words of a command: plain words, options with a value, and flags.
class Words {
 public:
  Words(int argc, char** argv, const std::vector<std::string_view>& flags) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (!word.starts_with("--")) {
        plain_.push_back(word);
      } else if (std::ranges::find(flags, word) != flags.end()) {
        options_[word] = "1";
      } else if (i + 1 < argc) {
        options_[word] = argv[++i];
      } else {
        throw UsageError(word + " needs a value");
      }
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return plain_.size(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const { return plain_.at(i); }
  [[nodiscard]] bool has(const std::string& name) const { return options_.contains(name); }
  [[nodiscard]] std::string text(const std::string& name, const std::string& standard = {}) const {
    return has(name) ? options_.at(name) : standard;
  }
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t standard = 0) const {
    return has(name) ? std::stoull(options_.at(name)) : standard;
  }
  [[nodiscard]] int repeat(int standard) const { return static_cast<int>(number("--repeat", standard)); }
  /// Returns the sweep of the lists of eps and minpts in the plain words i and i + 1.
  [[nodiscard]] Sweep sweep(std::size_t i) const {
    return grid(parse_eps_list(plain_.at(i)), parse_minpts_list(plain_.at(i + 1)));
  }
  /// Sets the given options in `owner`. They have the names that the program `epsflow` uses. Sizes are bytes.
  template <class Owner>
  void set(Owner& owner) const {
    for (const Option<Owner>& known : options_of<Owner>()) {
      const std::string name = "--" + std::string(known.program);
      if (!has(name) || known.set == nullptr) continue;
      if (known.kind != OptionKind::choice) {
        known.set(owner, number(name));
        continue;
      }
      const std::string value = text(name);
      if (std::ranges::find(known.words, value) == known.words.end()) throw UsageError(name + " " + value);
      known.set(owner, std::string_view(value));
    }
  }

 private:
  std::vector<std::string> plain_;
  std::map<std::string, std::string> options_;
};

/// Returns the seconds of each stage, summed over all threads and lanes.
inline Json stage_seconds(const Trace& trace) {
  Json json = Json::object();
  for (const TraceSpan& span : trace.spans()) {
    auto& sum = json[std::string(stage_name(span.stage))];
    sum = (sum.is_null() ? 0.0 : sum.get<double>()) + static_cast<double>(span.end_ns - span.begin_ns) * 1e-9;
  }
  return json;
}

struct Program {
  const char* usage;
  std::size_t least = 0;                     ///< number of required plain words
  std::vector<std::string_view> flags = {};  ///< options without a value
};

/// Returns the exit code: the result of measure(words), 2 if words are missing, or 1 if it throws. Prints the error.
int run(const Program& program, int argc, char** argv, const auto& measure) {
  try {
    const Words words(argc, argv, program.flags);
    if (words.size() >= program.least) return measure(words);
    std::cerr << "usage: " << program.usage << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace epsflow::bench
