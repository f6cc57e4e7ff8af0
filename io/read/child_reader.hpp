// Reading in a process of its own, for libraries that damaged files can crash.
#pragma once

#include <chrono>
#include <filesystem>

#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read_neighbors.hpp>

namespace epsflow::io {

/// Processor time that one step of a reader may take.
inline constexpr std::chrono::seconds kPatience{60};

/// Has epsflow-reader read the file with format.reader.parse, and returns the points after the NaN policy. What is thrown
/// there is thrown here. Throws InputError that calls the file damaged and names the library when the process crashes,
/// sends what cannot be, or takes more than `patience` of processor time for one step; ResourceError when there can be no
/// process, or somebody killed it. Peak memory: the points, a block of them, and what `parse` takes. The process prints
/// nothing, dumps no core, and ends with this one.
[[nodiscard]] FilePoints read_in_child(const Format& format, const LibraryFile& file, const Source& source,
                                       std::chrono::seconds patience = kPatience);
/// The same with format.reader.parse_neighbors, for a table of neighbours.
[[nodiscard]] FileNeighbors read_neighbors_in_child(const Format& format, const LibraryFile& file,
                                                    const Source& source);

/// The program that does it: what the environment variable EPSFLOW_READER names, or `epsflow-reader` beside this program,
/// in ../bin from there, or where epsflow was installed. Throws ResourceError naming these places where it is in none.
[[nodiscard]] std::filesystem::path find_reader();

}  // namespace epsflow::io
