// Measures the device time of phases, for benchmarks.
#pragma once

#include <utility>
#include <vector>

#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::gpu {

/// A mark in a stream at the end of each phase.
class PhaseMarks {
 public:
  /// Removes all marks and begins the first phase.
  void begin(const Stream& stream) {
    marks_.clear();
    end("", stream);
  }
  /// Ends a phase. phase: a string literal.
  void end(const char* phase, const Stream& stream) { marks_.emplace_back(phase, Event()).second.record(stream); }
  /// Returns the milliseconds of each phase, in order. All marked work must be done.
  [[nodiscard]] std::vector<std::pair<const char*, double>> times() const {
    std::vector<std::pair<const char*, double>> times;
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      times.emplace_back(marks_[i].first, marks_[i].second.since(marks_[i - 1].second));
    }
    return times;
  }

 private:
  std::vector<std::pair<const char*, Event>> marks_;
};

inline void end_phase(PhaseMarks* marks, const char* phase, const Stream& stream) {
  if (marks != nullptr) marks->end(phase, stream);
}

}  // namespace epsflow::gpu
