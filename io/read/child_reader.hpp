// Reading in a process of its own, for libraries that damaged files can crash.
#pragma once

#include <chrono>
#include <filesystem>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Processor time that one step of a reader may take.
inline constexpr std::chrono::seconds kPatience{60};

/// Lets epsflow-reader read the file with format.reader.parse, or parse_neighbors for a NeighborsBuilder, and stores
/// what it puts, which is then complete. An error that is thrown there is thrown here. Throws InputError that calls the
/// file damaged and names the library if the process crashes, sends what is impossible, or takes more than `patience`
/// of processor time for one step; ResourceError if the process cannot be started, or is killed. Memory: a block of
/// values, and what `parse` takes. The process prints nothing, dumps no core, and ends with this one.
void read_in_child(const Format& format, const LibraryFile& file, const Source& source, ValueStore& store,
                   std::chrono::seconds patience = kPatience);

/// The program that does it: what the environment variable EPSFLOW_READER names, or `epsflow-reader` beside this program,
/// in ../bin from there, or where epsflow was installed. Throws ResourceError naming these places where it is in none.
[[nodiscard]] std::filesystem::path find_reader();

}  // namespace epsflow::io
