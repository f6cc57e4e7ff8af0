// The child process that reads a file for its parent.
#pragma once

#include <string_view>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Reads the request on standard input, parses the file with the functions that `reader_of` returns for its format, and
/// answers on kAnswers. Ends the process without destroying objects, because libraries may crash there. The process
/// dumps no core, and dies with its parent.
[[noreturn]] void serve_reader(Reader (*reader_of)(std::string_view format));

}  // namespace epsflow::io
