#include <epsflow/io/read_neighbors.hpp>

#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/child_reader.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

FileNeighbors read_neighbors(const std::filesystem::path& file, std::uint64_t memory) {
  const ReadOptions options{.memory = memory};
  const InputFile opened(file, options);
  const Source source{.name = opened.shown, .options = options};
  if (opened.format.name != "HDF5") {
    throw source.error("is {}, and tables of neighbours are HDF5; `epsflow neighbors` writes one", opened.format.name);
  }
  require_format(opened.format.name);
  NeighborsBuilder table(source);
  read_in_child(opened.format, library_file(*opened.bytes, source), source, table);
  return table.take();
}

}  // namespace epsflow::io
