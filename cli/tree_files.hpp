// The file hierarchy.npz of a results folder: hierarchies, and condensed trees with the clusters that are selected.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/sweep.hpp>
#include <epsflow/io/write/npz_writer.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::cli {

/// The arrays of the file; docs/howto/files.md lists them.
class TreeArrays {
 public:
  /// tree: must outlive this object.
  void add(const Hierarchy& tree);
  /// Adds the clusters of a variant of the tree. selected: their numbers, by label.
  void add(const Variant& variant, const CondensedTree& tree, const std::vector<std::uint32_t>& selected);
  /// Throws ResourceError.
  void write(const std::filesystem::path& file) const { io::write_npz(file, arrays_); }

 private:
  template <class Row, class Value>
  void add(std::string name, std::span<const Row> rows, Value value);

  std::vector<std::pair<std::string, io::NpyArray>> arrays_;
  std::vector<std::shared_ptr<const void>> held_;
};

/// Reads the condensed tree of a variant. Throws InputError for other files.
[[nodiscard]] std::vector<report::TreeCluster> read_tree(const std::filesystem::path& file, const Variant& variant);

}  // namespace epsflow::cli
