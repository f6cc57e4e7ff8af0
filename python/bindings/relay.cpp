#include "relay.hpp"

#include <chrono>
#include <utility>

#include <epsflow/core/error.hpp>

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

parts::Mail Relay::all_to_all(parts::Mail send) {
  const auto me = static_cast<std::size_t>(rank_);
  Buffer<std::byte> own = std::exchange(send[me], {});
  for (const Buffer<std::byte>& letter : send) sent_bytes_ += letter.size();
  send_ = std::move(send);
  received_.clear();
  ask(Asked::mail);
  send_.clear();
  parts::Mail received = std::exchange(received_, {});
  received.resize(static_cast<std::size_t>(size_));
  received[me] = std::move(own);
  return received;
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

std::span<Buffer<std::byte>> Relay::incoming(std::span<const std::uint64_t> sizes) {
  if (sizes.size() != static_cast<std::size_t>(size_)) throw Error("a relay needs one size for each rank");
  received_.clear();
  for (const std::uint64_t size : sizes) received_.emplace_back(size);
  return received_;
}

void Relay::answer() noexcept {
  const std::scoped_lock lock(mutex_);
  if (asked_ != Asked::over) asked_ = Asked::nothing;
  changed_.notify_all();
}

}  // namespace epsflow::python
