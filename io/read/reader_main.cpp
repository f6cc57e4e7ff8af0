// epsflow-reader: reads one file for the process that starts it (child_reader.hpp). Users do not run it.
#include <unistd.h>
#include <cstdio>

#include <epsflow/io/read/child_reader.hpp>

namespace {

epsflow::io::Reader reader_of(std::string_view name) {
  for (const epsflow::io::Format& format : epsflow::io::all_formats()) {
    if (format.name == name && format.reader.parse != nullptr) return format.reader;
  }
  throw epsflow::ResourceError("epsflow-reader is of a build without " + std::string(name) +
                               "; let EPSFLOW_READER name the one of this program's build");
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1 || ::isatty(STDIN_FILENO) != 0) {
    std::puts("epsflow-reader is started by epsflow to read a file, and does nothing by itself.");
    return EXIT_FAILURE;
  }
  epsflow::io::serve_reader(reader_of);
}
