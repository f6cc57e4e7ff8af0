// Results folders.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "arrays.hpp"
#include "task.hpp"

#include <epsflow/core/format.hpp>
#include <epsflow/io/results/results_files.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/results/save_results.hpp>

namespace epsflow::python {
namespace {

/// Figures, labels and core mask of a variant. The mask is empty if it is not known.
using Held = std::tuple<const io::SweepEntry*, Vector<std::int32_t>, Vector<std::uint8_t>>;

/// told: the input, the version of the program and the options of the run.
std::unique_ptr<Task> start_save(
    const std::filesystem::path& folder, const std::vector<Held>& variants, const Vector<std::int64_t>& rows,
    const std::tuple<std::string, std::string, std::vector<std::pair<std::string, std::string>>>& told,
    bool overwrite) {
  const auto& [input, version, options] = told;
  io::HeldResults results{.input = input, .run = {.version = version, .options = options}, .rows = span_of(rows)};
  for (const auto& [figures, labels, core] : variants) {
    results.variants.push_back({*figures, span_of(labels), span_of(core)});
  }
  return std::make_unique<Task>([folder, results, overwrite](const Observer& observer, Task::Channel&) {
    io::save_results(folder, results, overwrite ? io::Overwrite::replace : io::Overwrite::refuse, observer.on_notice,
                     *observer.cancel);
  });
}

using MappedBytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;

/// Maps the first bytes of a file while the array is in use. The descriptor is closed. Raises OSError.
MappedBytes map_file(const std::filesystem::path& file, std::size_t size) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapped = descriptor < 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, file.c_str());
    if (descriptor >= 0) ::close(descriptor);
    throw nb::python_error();
  }
  ::close(descriptor);
  const nb::capsule owner(new std::span(static_cast<std::byte*>(mapped), size), [](void* held) noexcept {
    const std::unique_ptr<std::span<std::byte>> bytes(static_cast<std::span<std::byte>*>(held));
    ::munmap(bytes->data(), bytes->size());
  });
  return {mapped, {size}, owner};
}

}  // namespace

void define_results_folders(nb::module_& m) {
  nb::class_<io::Manifest>(m, "Manifest", "What the sweep.json of a results folder says.")
      .def(nb::new_([](const std::filesystem::path& folder) {
             io::Manifest manifest = io::read_manifest(folder);
             io::require_sweep(folder, manifest);
             return manifest;
           }),
           "folder"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_ro("input", &io::Manifest::input, "JSON")
      .def_ro("runs", &io::Manifest::runs, "JSON")
      .def_prop_ro("variants",
                   [](const io::Manifest& manifest) {
                     std::vector<io::SweepEntry> all;
                     for (const auto& [variant, entry] : manifest.entries) all.push_back(entry);
                     return all;
                   })
      .def("owns", &io::Manifest::owns, "name"_a)
      .def(
          "verify",
          [](const io::Manifest& manifest, const std::filesystem::path& folder, const std::string& name) {
            io::require_digest(folder / name, manifest.files.at(name));
          },
          "folder"_a, "name"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("require_vector", &io::require_vector, "file"_a, "type"_a, "n"_a, "Where in the file its n values begin.");
  m.def("map_file", &map_file, "file"_a, "size"_a);
  def_task(m, "start_save", &start_save, "folder"_a, nb::arg("variants").noconvert(), nb::arg("rows").noconvert(),
           "told"_a, "overwrite"_a);
  m.def("format_number", &format_number, "value"_a);
}

}  // namespace epsflow::python
