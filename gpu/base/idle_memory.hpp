// Returns idle memory of a GPU to other libraries of the process and to other processes.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Releases idle memory one to two seconds after the last use. Its thread then sleeps until memory is used again.
class IdleMemory {
 public:
  /// `memory`, which is on `device`, must outlive the object.
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
  std::jthread thread_;  // declared last because it uses the other members
};

}  // namespace epsflow::gpu
