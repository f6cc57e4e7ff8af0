// The process that reads a file in the place of another one.
#pragma once

#include <string_view>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Reads the request on standard input, parses the file with what `reader_of` says of its format, and answers on
/// kAnswers. Ends the process: nothing of it is destroyed, as libraries may crash there. It dumps no core, and dies with
/// its parent.
[[noreturn]] void serve_reader(Reader (*reader_of)(std::string_view format));

}  // namespace epsflow::io
