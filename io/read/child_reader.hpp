// Reading in a child process, for libraries that damaged files can crash.
#pragma once

#include <chrono>
#include <filesystem>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Processor time that one step of a reader may take.
inline constexpr std::chrono::seconds kPatience{60};

/// Runs epsflow-reader, which reads the file with format.reader.parse, or parse_neighbors for a NeighborsBuilder, and
/// fills `store` with all values. An error that the child throws is thrown here. Throws InputError that calls the file
/// damaged and names the library if the child crashes, sends impossible values, or takes more than `patience` of
/// processor time for one step; ResourceError if the child cannot be started, or is killed. Memory: a block of values,
/// and the memory of `parse`. The child prints nothing, dumps no core, and ends with this process.
void read_in_child(const Format& format, const LibraryFile& file, const Source& source, ValueStore& store,
                   std::chrono::seconds patience = kPatience);

/// Returns the path of epsflow-reader: the value of the environment variable EPSFLOW_READER, or `epsflow-reader` beside
/// this program, in ../bin from there, or where epsflow was installed. Throws ResourceError if none has it.
[[nodiscard]] std::filesystem::path find_reader();

/// Reads the request on standard input, parses the file with the functions that `reader_of` returns for its format, and
/// answers on kAnswers. Ends the process without destroying objects, because libraries may crash there. The process
/// dumps no core, and dies with its parent.
[[noreturn]] void serve_reader(Reader (*reader_of)(std::string_view format));

}  // namespace epsflow::io
