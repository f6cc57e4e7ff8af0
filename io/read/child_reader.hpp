// Reading in a child process, for libraries that damaged files can crash.
#pragma once

#include <chrono>
#include <filesystem>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Processor time that one step of a reader may take: the way to the shape of the values, or to the next block of them.
inline constexpr std::chrono::seconds kPatience{60};

/// Runs epsflow-reader, which reads the file with format.reader.parse, or parse_neighbors for a NeighborsBuilder, and
/// fills `store` until it is complete. An error that the child throws, or store.begin(), is thrown here. Throws
/// InputError that calls the file damaged and names the library if the child crashes, sends impossible values, or takes
/// more than `patience` of processor time for one step (0: no limit); ResourceError if the child cannot be started, is
/// of another version, or is ended by another process. Memory: a block of values, and in the child the memory of
/// `parse`. The child prints nothing, dumps no core, and ends with this process.
void read_in_child(const Format& format, const LibraryFile& file, const Source& source, ValueStore& store,
                   std::chrono::seconds patience = kPatience);

/// Returns the path of epsflow-reader: the value of the environment variable EPSFLOW_READER if it is set and not empty,
/// else `epsflow-reader` beside this program, in ../bin from there, or where epsflow was installed. Throws
/// ResourceError if the variable names no executable file, or if it is not set and none of these places has the
/// program.
[[nodiscard]] std::filesystem::path find_reader();

/// Reads the request on standard input, parses the file with the functions that `reader_of` returns for its format, and
/// answers on the descriptor kAnswers (reader_messages.hpp). Ends the process without destroying objects, because
/// libraries may crash there. The process dumps no core, and dies with its parent.
[[noreturn]] void serve_reader(Reader (*reader_of)(std::string_view format));

}  // namespace epsflow::io
