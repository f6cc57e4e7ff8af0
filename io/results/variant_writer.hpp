// What writes a file of each variant beside its labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <epsflow/core/labels.hpp>

namespace epsflow::io {

struct VariantWriter {
  std::string folder;     ///< kLabelledFolder or kCatalogFolder
  std::string extension;  ///< ".csv"
  /// By which to find out whether an older file is still good: it is, if this is the same.
  std::string contents = {};
  std::uint64_t bytes = 0;  ///< about what a file takes
  /// Writes a file at the first path, which is made or overwritten, and names the second in errors.
  std::function<void(const std::filesystem::path&, const std::filesystem::path&, const VariantResult&)> write;
};

}  // namespace epsflow::io
