#include <chrono>

#include "common.hpp"
#include "relay.hpp"

namespace epsflow::python {
namespace {

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>>;

/// Arrays of bytes that look into what the relay holds until it is answered.
std::vector<Array<std::uint8_t>> bytes_of(std::span<const Buffer<std::byte>> mail, nb::handle owner) {
  std::vector<Array<std::uint8_t>> arrays;
  for (const Buffer<std::byte>& letter : mail) {
    auto* const bytes = const_cast<std::byte*>(letter.data());
    arrays.push_back(Array<std::uint8_t>(bytes, {letter.size()}, owner));
  }
  return arrays;
}

template <class T>
Array<T> values_of(std::span<T> values, nb::handle owner) {
  return Array<T>(values.data(), {values.size()}, owner);
}

std::string word_for(Relay::Asked asked) {
  switch (asked) {
    case Relay::Asked::mail:
      return "mail";
    case Relay::Asked::sum:
      return "sum";
    case Relay::Asked::max:
      return "max";
    case Relay::Asked::over:
      return "over";
    case Relay::Asked::nothing:
      break;
  }
  return "";
}

}  // namespace

void define_ranks(nb::module_& m) {
  nb::class_<Relay>(m, "Relay", "What the run of a rank asks of the others.")
      .def(nb::init<int, int>(), "rank"_a, "size"_a)
      .def(
          "wait",
          [](Relay& relay, double seconds) { return word_for(relay.wait(std::chrono::duration<double>(seconds))); },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits no longer than so many seconds; returns what is asked: mail, sum, max, over where the run has ended, "
          "or ''.")
      .def("outgoing", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).outgoing(), self); })
      .def("incoming", [](nb::handle_t<Relay> self) { return bytes_of(nb::cast<Relay&>(self).incoming(), self); })
      .def("sums", [](nb::handle_t<Relay> self) { return values_of(nb::cast<Relay&>(self).sums(), self); })
      .def("most", [](nb::handle_t<Relay> self) { return values_of(nb::cast<Relay&>(self).most(), self); })
      .def("answer", &Relay::answer);
}

}  // namespace epsflow::python
