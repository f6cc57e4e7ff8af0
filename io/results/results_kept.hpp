// What a run keeps of the results that are there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/io/results/results_files.hpp>
#include <epsflow/io/results/results_folder.hpp>

namespace epsflow::io {

/// Takes out of the state, and removes, what a run cannot go on with. Everything outlives it.
struct KeptResults {
  const std::filesystem::path& base;    ///< where the results are
  const std::filesystem::path& hidden;  ///< where finished files of a killed run may still be
  Manifest& state;                      ///< of base
  const std::vector<Variant>& asked;
  const FolderOutputs& outputs;
  const Notice& notice;

  /// Files that are missing or not what they were when they were written.
  void drop_unsound(std::uint64_t points);
  /// A replacement holds what this run is asked for, whatever one before was.
  void drop_unasked();
  /// A run before may have copied other columns, or an input that has changed since beside its coordinates.
  void drop_outdated(const VariantWriter& writer);
  void remove_file(const std::string& name);
  /// Variants that are to be made: those asked for of which a file is not there. One that the folder holds with another eps
  /// than was asked for, nearer than a relative 1e-9, stands for it, and is said.
  [[nodiscard]] std::vector<Variant> missing() const;

 private:
  [[nodiscard]] Variant held(const Variant& variant, const Entries& others) const;
  /// Whether a file that is finished is what it was. One that a killed run had finished and not moved yet is moved now.
  [[nodiscard]] bool is_sound(const std::string& name, const FileDigest& digest) const;
};

}  // namespace epsflow::io
