// Sweeps of points that are distributed over processes.
#include <chrono>

#include "arrays.hpp"
#include "common.hpp"
#include "relay.hpp"

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

void Relay::alltoallv(Outgoing send, Incoming receive) {
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

namespace {

/// Returns the relay's buffers as arrays of bytes. They are valid until the relay is answered.
std::vector<Column<std::uint8_t>> bytes_of(std::span<const Buffer<std::byte>> mail, nb::handle owner) {
  std::vector<Column<std::uint8_t>> arrays;
  for (const Buffer<std::byte>& letter : mail) {
    auto* const bytes = const_cast<std::byte*>(letter.data());
    arrays.push_back(Column<std::uint8_t>(bytes, {letter.size()}, owner));
  }
  return arrays;
}

/// The words of Relay::Asked, by value.
constexpr const char* kWords[] = {"", "mail", "sum", "max", "over"};

}  // namespace

void define_ranks(nb::module_& m) {
  nb::class_<Relay>(m, "Relay", "What the run of a rank asks of the others.")
      .def(nb::init<int, int>(), "rank"_a, "size"_a)
      .def(
          "wait",
          [](Relay& relay, double seconds) {
            return kWords[static_cast<int>(relay.wait(std::chrono::duration<double>(seconds)))];
          },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits no longer than so many seconds; returns what is asked: mail, sum, max, over where the run has ended, "
          "or ''.")
      .def("outgoing", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).outgoing(), self); })
      .def("incoming", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).incoming(), self); })
      .def("sums", column_in<Relay>(&Relay::sums))
      .def("most", column_in<Relay>(&Relay::most))
      .def("answer", &Relay::answer);
}

}  // namespace epsflow::python
