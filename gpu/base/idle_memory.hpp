// What one engine keeps idle on a GPU others may need: other libraries of the process, and other processes.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Gives back what a GPU's memory keeps for later once nobody has asked for any for a second, on a thread of its own, which sleeps
/// while nothing is used.
class IdleMemory {
 public:
  /// `memory` must outlive it.
  IdleMemory(int device, DeviceMemory& memory);
  IdleMemory(const IdleMemory&) = delete;
  IdleMemory& operator=(const IdleMemory&) = delete;
  ~IdleMemory();

 private:
  void watch(const std::stop_token& stop);

  int device_;
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace epsflow::gpu
