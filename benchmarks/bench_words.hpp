// What programs of measurements share: their words, and the clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <string>

namespace epsflow::bench {

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Pairs of a name and a value.
class Words {
 public:
  Words(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) words_[argv[i]] = argv[i + 1];
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& standard) const {
    return words_.contains(name) ? words_.at(name) : standard;
  }
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t standard) const {
    return words_.contains(name) ? std::stoull(words_.at(name)) : standard;
  }

 private:
  std::map<std::string, std::string> words_;
};

/// The exit code: what measure(words) returns, or 1 where it throws, which is printed.
int run(const char* program, int argc, char** argv, const auto& measure) {
  try {
    return measure(Words(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << program << ": " << e.what() << "\n";
    return 1;
  }
}

}  // namespace epsflow::bench
