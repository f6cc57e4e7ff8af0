#include <epsflow/io/read/hdf5/hdf5_handle.hpp>

#include "io/io_test.hpp"

namespace epsflow::io::test {

TEST_CASE("hdf5: the text of an error is one line") {
  const Hdf5Session session;
  const auto push = [](const char* text) {
    H5Epush2(H5E_DEFAULT, "file.c", "function", 1, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s", text);
  };
  push("file read failed: time = Mon Nov 23 12:00:00 2026\n, filename = 'a.h5'");
  CHECK(take_error_text() == "file read failed: time = Mon Nov 23 12:00:00 2026, filename = 'a.h5'");
  push("time = Mon Nov 23 12:00:00 2026\n, errno = 5");
  push("can't read data");
  CHECK(take_error_text() == "can't read data (time = Mon Nov 23 12:00:00 2026, errno = 5)");
  CHECK(take_error_text() == "HDF5 gives no reason");
}

TEST_CASE("hdf5: the program prints the library's errors after a session as before") {
  H5E_auto2_t before = nullptr;
  H5E_auto2_t after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(hid_t{0}, &before, &data);
  { const Hdf5Session session; }
  H5Eget_auto2(hid_t{0}, &after, &data);
  CHECK(before == after);
}

}  // namespace epsflow::io::test
