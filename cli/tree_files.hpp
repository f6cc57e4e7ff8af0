// The file hierarchy.npz of a results folder: hierarchies, and condensed trees with the clusters that are selected.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/sweep.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/npz_writer.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::cli {

/// Writes the file, whose arrays docs/howto/files.md lists. Call close() after the last add(), else the file is not
/// readable. Throws as io::NpzWriter.
class TreeWriter {
 public:
  /// file: the file to write. target: its name in errors.
  TreeWriter(const std::filesystem::path& file, const std::filesystem::path& target) : out_(file, target) {}

  /// Adds a hierarchy. Call it at most once for each minpts.
  void add(const Hierarchy& tree);
  /// Adds the condensed tree of a variant. selected: for each label the index of its cluster in the tree.
  void add(const Variant& variant, const CondensedTree& tree, const std::vector<std::uint32_t>& selected);
  void close() { out_.close(); }

 private:
  template <class Row, class Value>
  void add(const std::string& name, std::span<const Row> rows, Value value);

  io::NpzWriter out_;
};

/// Reads the condensed trees of a file. Throws InputError for other files, UsageError in a build without libzip.
class TreeReader {
 public:
  explicit TreeReader(std::filesystem::path file);

  /// Returns the clusters of the condensed tree of a variant. Throws InputError if the file lacks it or is damaged.
  [[nodiscard]] std::vector<report::TreeCluster> read(const Variant& variant) const;

 private:
  std::filesystem::path file_;
  std::function<io::FilePoints(std::vector<std::string>)> columns_;
};

}  // namespace epsflow::cli
