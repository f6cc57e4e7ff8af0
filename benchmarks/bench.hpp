// The harness of the benchmarks: words of the command line, clock, repeats, medians and JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/trace.hpp>

namespace epsflow::bench {

using Json = nlohmann::ordered_json;

/// Prints one line. Returns false if it states that results which should be equal are not.
inline bool print(const Json& json) {
  std::cout << json.dump() << std::endl;
  return json.value("equal", true);
}

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls work() warm_ups + repeat times. Returns the seconds of each call but the warm-ups.
std::vector<double> seconds_of_each(int repeat, const auto& work, int warm_ups = 0) {
  for (int i = 0; i < warm_ups; ++i) work();
  std::vector<double> seconds;
  for (int i = 0; i < repeat; ++i) seconds.push_back(seconds_of(work));
  return seconds;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Returns the median and the minimum in milliseconds.
inline Json summary_ms(const std::vector<double>& seconds) {
  return {{"median", 1e3 * median(seconds)}, {"min", 1e3 * std::ranges::min(seconds)}};
}

/// The words of a command: plain words, options with a value, and flags.
class Words {
 public:
  /// usage: the required plain words, then the options in brackets: "FILE EPS [--repeat N] [--check]". An option
  /// without a value there is a flag, as --float32 is for every case. Any other option has a value. Throws UsageError
  /// if words are missing.
  Words(std::string_view usage, int count, char** words) {
    for (int i = 0; i < count; ++i) {
      const std::string word = words[i];
      if (!word.starts_with("--")) {
        plain_.push_back(word);
      } else if (word == "--float32" || usage.find("[" + word + "]") != usage.npos) {
        options_[word] = "1";
      } else if (i + 1 < count) {
        options_[word] = words[++i];
      } else {
        throw UsageError(word + " needs a value");
      }
    }
    std::istringstream required{std::string(usage.substr(0, usage.find('[')))};
    std::string word;
    for (std::size_t i = 0; required >> word; ++i) {
      if (i >= plain_.size()) throw UsageError("there is no " + word + "; usage: " + std::string(usage));
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
  [[nodiscard]] double real(const std::string& name, double standard) const {
    return has(name) ? std::stod(options_.at(name)) : standard;
  }
  template <class T>
  [[nodiscard]] T choice(const std::string& name, T standard) const {
    if (!has(name)) return standard;
    if (const auto value = choice_of<T>(text(name))) return *value;
    throw UsageError(name + " " + text(name));
  }
  [[nodiscard]] int repeat(int standard) const { return static_cast<int>(number("--repeat", standard)); }
  /// Returns plain word i as eps, or as minpts or k.
  [[nodiscard]] double eps(std::size_t i) const { return std::stod(plain_.at(i)); }
  [[nodiscard]] std::uint32_t count(std::size_t i) const {
    return static_cast<std::uint32_t>(std::stoul(plain_.at(i)));
  }
  /// Returns the sweep of the lists of eps and minpts in the plain words i and i + 1.
  [[nodiscard]] Sweep sweep(std::size_t i) const {
    return grid(parse_eps_list(plain_.at(i)), parse_minpts_list(plain_.at(i + 1)));
  }
  /// Returns `owner` with the given options set. They have the names that the program `epsflow` uses. Sizes are bytes.
  template <class Owner>
  [[nodiscard]] Owner options(Owner owner = {}) const {
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
    return owner;
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

}  // namespace epsflow::bench
