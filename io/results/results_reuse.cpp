// Decides which existing results a run keeps. Removes unusable ones from the folder's state, and from the disk.
#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <epsflow/core/format.hpp>
#include <epsflow/io/results/results_folder.hpp>

namespace epsflow::io {

/// Decides whether the run continues the existing results, or makes a replacement of them.
void ResultsFolder::choose_base(const std::string& checksum) {
  const bool holds = !state_.entries.empty();
  if (mode_ == FolderMode::resume && holds && state_.checksum != checksum) {
    throw InputError(folder_.string() + " holds results of " + describe_difference(state_, checksum) +
                     "; choose another folder, or replace them with FolderMode::overwrite");
  }
  const std::filesystem::path replacement = hidden_ / "replacement";
  const bool replacement_left = left_ && left_->replaces;
  replacing_ = mode_ == FolderMode::overwrite && holds;
  if (replacing_) {
    if (left_ && !left_->replaces) save_manifest(folder_, state_);  // the journal is about to be overwritten
    base_ = replacement;
    state_ = {};
    if (replacement_left && outputs_.resumable && left_->state.checksum == checksum) {
      state_ = read_manifest(replacement);
      state_.merge(left_->state);
      return;
    }
  } else {
    if (!holds) {
      if (!state_.runs.empty()) remove_results(folder_, state_);
      state_ = {};
    }
    if (replacement_left) {
      notice_(folder_.string() +
              " held a replacement that was not complete, for FolderMode::overwrite to go on with: it is removed");
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(replacement, ignored);
}

void ResultsFolder::keep_results() {
  drop_unsound();
  if (replacing_) drop_unasked();
  for (const VariantWriter& writer : writers_) drop_outdated(writer);
  state_.end_running();
}

/// Returns true if a finished file is unchanged. If a killed run had finished the file but not moved it, moves it now.
bool ResultsFolder::is_sound(const std::string& name, const FileDigest& digest) const {
  if (digest_of(base_ / name) == digest) return true;
  if (digest_of(hidden_ / partial_name(name)) != digest) return false;
  std::error_code code;
  std::filesystem::create_directories((base_ / name).parent_path(), code);
  std::filesystem::rename(hidden_ / partial_name(name), base_ / name, code);
  return !code;
}

/// Removes the files for which `unwanted` is true. Returns their number.
std::size_t ResultsFolder::remove_files(const FileTest& unwanted) {
  return std::erase_if(state_.files, [&](const auto& file) {
    const auto& [name, digest] = file;
    if (!unwanted(name, digest)) return false;
    std::error_code ignored;
    std::filesystem::remove(base_ / name, ignored);
    if (const auto folder = std::filesystem::path(name).parent_path(); !folder.empty()) {
      std::filesystem::remove(base_ / folder, ignored);  // fails if the folder holds other files
    }
    return true;
  });
}

/// Drops files that are missing or have changed since they were written.
void ResultsFolder::drop_unsound() {
  const std::uint64_t bytes = npy_vector_header("<i4", points_).size() + points_ * sizeof(std::int32_t);
  remove_files([&](const std::string& name, const FileDigest& digest) {
    const ResultsOutput* const output = find_output(name.substr(0, name.find('/')));
    if (output == nullptr || name == kTraceName) return false;  // each run writes its own trace
    if ((output->name != kLabelsFolder || digest.bytes == bytes) && is_sound(name, digest)) return false;
    notice_((base_ / name).string() +
            " is missing or has changed since it was written: it is made again where it is asked for");
    return true;
  });
  std::erase_if(state_.entries,
                [&](const auto& entry) { return entry.second.has_labels && !state_.owns(labels_name(entry.first)); });
}

/// Drops files and variants that this run does not request. Only for a replacement, which holds nothing else.
void ResultsFolder::drop_unasked() {
  Entries kept;
  std::unordered_set<std::string> wanted;
  for (const Variant& variant : asked_) {
    if (auto node = state_.entries.extract(variant); !node.empty()) kept.insert(std::move(node));
    for (std::string& file : variant_files(variant, outputs_)) wanted.insert(std::move(file));
  }
  state_.entries = std::move(kept);
  remove_files([&](const std::string& name, const FileDigest&) { return !wanted.contains(name); });
  for (auto& [variant, entry] : state_.entries) entry.has_labels = state_.owns(labels_name(variant));
}

/// Drops copies of other columns, or of an input whose other columns have changed since.
void ResultsFolder::drop_outdated(const VariantWriter& writer) {
  std::string& contents = state_.contents[writer.folder][writer.extension];
  if (contents == writer.contents) return;
  contents = writer.contents;
  const std::size_t outdated = remove_files([&](const std::string& name, const FileDigest&) {
    return name.starts_with(writer.folder + "/") && name.ends_with(writer.extension);
  });
  if (outdated == 0) return;
  notice_(format_count(outdated, "file") + " in " + (base_ / writer.folder).string() +
          " were made of other columns, or of the input as it was before: they are made again where their variants are "
          "asked for");
}

/// Drops files about all variants, if variants are added. Files of an exploration are about its map only, and stay.
void ResultsFolder::drop_incomplete(const std::vector<Variant>& missing) {
  if (missing.empty() || state_.owns(kExploreName)) return;
  remove_files([&](const std::string& name, const FileDigest&) {
    const ResultsOutput* const output = find_output(name);
    if (output == nullptr || output->scope != OutputScope::all_variants) return false;
    if (!outputs_.wants(name)) {
      notice_((base_ / name).string() + " is removed, as it does not know of the variants that are added");
    }
    return true;
  });
}

/// Returns the nearest of `others` with the same minpts and an eps within a relative 1e-9, or else the variant itself.
Variant ResultsFolder::held(const Variant& variant, const Entries& others) const {
  constexpr double kNear = 1e-9;
  Variant nearest = variant;
  double distance = kNear * variant.eps;
  const auto end = others.upper_bound({variant.eps + distance, variant.minpts});
  for (auto at = others.lower_bound({variant.eps - distance, variant.minpts}); at != end; ++at) {
    const double away = std::abs(at->first.eps - variant.eps);
    if (at->first.minpts != variant.minpts || away > distance) continue;
    nearest = at->first;
    distance = away;
  }
  if (nearest != variant) {
    notice_((base_ / labels_name(nearest)).string() + " is taken for eps " + format_number(variant.eps) +
            ", which differs by less than a billionth");
  }
  return nearest;
}

/// Returns the requested variants of which a file is missing.
std::vector<Variant> ResultsFolder::missing() const {
  Entries others = state_.entries;
  for (const Variant& variant : asked_) others.erase(variant);
  std::vector<Variant> missing;
  for (const Variant& wanted : asked_) {
    const Variant variant = state_.entries.contains(wanted) ? wanted : held(wanted, others);
    const std::vector<std::string> files = variant_files(variant, outputs_);
    const bool whole = state_.entries.contains(variant) &&
                       std::ranges::all_of(files, [&](const std::string& file) { return state_.owns(file); });
    if (!whole) missing.push_back(variant);
  }
  return missing;
}

/// Decides whether to write sweep.h5, which needs the labels of all variants. before: whether an earlier run
/// whose results are kept requested it.
void ResultsFolder::choose_hdf5(const std::vector<Variant>& missing, bool before) {
  const bool asked = outputs_.wants(kHdf5Name);
  if (!asked && !before) return;
  const std::set<Variant, VariantOrder> made(missing.begin(), missing.end());
  const bool labelled =
      (outputs_.wants(kLabelsFolder) || missing.empty()) && std::ranges::all_of(state_.entries, [&](const auto& entry) {
        return entry.second.has_labels || made.contains(entry.first);
      });
  if (asked && !labelled) {
    throw UsageError(folder_.string() + " holds variants whose counts alone were kept, and " + kHdf5Name +
                     " has the labels of all; sweep these as well, or choose another folder");
  }
  if (!missing.empty() || !labelled)
    remove_files([](const std::string& name, const FileDigest&) { return name == kHdf5Name; });
  if (labelled) {
    outputs_.wanted.try_emplace(kHdf5Name);
  } else {
    notice_((base_ / kHdf5Name).string() +
            " is not written, as it has labels, and of some variants counts alone are kept");
  }
}

}  // namespace epsflow::io
