#include <epsflow/io/read/hdf5/hdf5_handle.hpp>

namespace epsflow::io {
namespace {

std::mutex library_mutex;

}  // namespace

Hdf5Session::Hdf5Session() : lock_(library_mutex) {
  // The library's cleanup at the end of a program crashes if a file could not be closed, as on a full disk. It is not
  // needed, because every object is closed by its owner.
  static const herr_t once = H5dont_atexit();
  static_cast<void>(once);
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string take_error_text() {
  struct Ends {
    std::string innermost;
    std::string outermost;
  } ends;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    auto& found = *static_cast<Ends*>(data);
    std::string text = error->desc != nullptr ? error->desc : "";
    std::erase(text, '\n');  // The message of a failed read or write ends with the time and a line feed.
    if (found.innermost.empty() || text.starts_with(kLackedFilter)) found.innermost = text;
    found.outermost = text;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &ends);
  H5Eclear2(H5E_DEFAULT);
  if (ends.innermost.empty()) return "HDF5 gives no reason";
  return ends.innermost == ends.outermost ? ends.innermost : ends.outermost + " (" + ends.innermost + ")";
}

}  // namespace epsflow::io
