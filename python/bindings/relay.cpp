#include "relay.hpp"

#include <chrono>

namespace epsflow::python {

void Relay::ask(Asked what) {
  constexpr std::chrono::milliseconds kLook{50};
  std::unique_lock lock(mutex_);
  asked_ = what;
  changed_.notify_all();
  while (!changed_.wait_for(lock, kLook, [this] { return asked_ == Asked::nothing; })) {
    if (cancel_ != nullptr) cancel_->check();
  }
}

void Relay::deliver(Outgoing send, Incoming receive) {
  send_.clear();
  received_.clear();
  for (const auto letter : send) {
    parts::copy_bytes(letter.data(), letter.size(), send_.emplace_back(letter.size()).data());
  }
  for (const auto letter : receive) received_.emplace_back(letter.size());
  ask(Asked::mail);
  for (std::size_t r = 0; r < receive.size(); ++r) {
    parts::copy_bytes(received_[r].data(), receive[r].size(), receive[r].data());
  }
  send_.clear();
  received_.clear();
}

void Relay::sum(std::span<std::uint64_t> values) {
  sums_ = values;
  ask(Asked::sum);
}

void Relay::max(std::span<double> values) {
  most_ = values;
  ask(Asked::max);
}

void Relay::close() noexcept {
  const std::scoped_lock lock(mutex_);
  asked_ = Asked::over;
  changed_.notify_all();
}

Relay::Asked Relay::wait(std::chrono::duration<double> time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return asked_ != Asked::nothing; });
  return asked_;
}

void Relay::answer() noexcept {
  const std::scoped_lock lock(mutex_);
  if (asked_ != Asked::over) asked_ = Asked::nothing;
  changed_.notify_all();
}

}  // namespace epsflow::python
