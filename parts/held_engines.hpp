// Engines that one sweep holds together.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow::parts {

/// Reserves engines, so that no other work uses them until the object is destroyed. Takes their turns in the same order
/// everywhere, so that two sweeps never wait for each other, and the turn of an engine that is given twice only once.
class HeldEngines {
 public:
  /// Waits for the turns. The engines must outlive the object. Throws Cancelled.
  HeldEngines(std::span<const Engine> engines, const CancelToken& stop) {
    std::map<const void*, const Engine*> different;
    for (const Engine& engine : engines) different[EngineLock::identity(engine)] = &engine;
    for (const auto& [identity, engine] : different) {
      held_.push_back({identity, engine, &locks_.emplace_back(*engine, stop).backend()});
    }
  }

  struct Held {
    const void* identity;
    const Engine* engine;
    Backend* backend;
  };
  /// The different engines, in the order of their turns.
  [[nodiscard]] std::span<const Held> different() const noexcept { return held_; }
  /// Returns the backend of an engine. engine: one of those given, or a copy.
  [[nodiscard]] Backend& backend(const Engine& engine) const {
    const void* const identity = EngineLock::identity(engine);
    return *std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.identity == identity; })->backend;
  }

 private:
  std::deque<EngineLock> locks_;
  std::vector<Held> held_;
};

}  // namespace epsflow::parts
