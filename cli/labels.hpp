// Labels and masks that this program wrote, in files and in results folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::cli {

/// What the one column of a file holds.
struct WholeNumbers {
  std::string_view what;  ///< in words
  double least = 0;
  double most = 0;
  std::string_view advice = {};  ///< where it holds something else
};
inline constexpr WholeNumbers kLabelNumbers{"labels", kNoise, std::numeric_limits<std::int32_t>::max(),
                                            "labels are clusters from 0 on or -1 for noise"};
inline constexpr WholeNumbers kMaskNumbers{"mask of core points", 0, 1, "it is 1 for core points, else 0"};

/// A file of such numbers, one for each point. Throws InputError for one that is missing, NaN, no whole number or not in the range, and
/// for more than one column.
[[nodiscard]] std::vector<std::int32_t> read_numbers(const std::filesystem::path& file, const WholeNumbers& numbers,
                                                     io::ReadOptions options = {});

/// What a results folder says of itself. Throws InputError where it holds no results, UsageError as io::read_manifest().
[[nodiscard]] io::Manifest read_results(const std::filesystem::path& folder);

/// The variant that the folder holds, with an eps that differs from the one asked for by no more than rounding (a part in 10^9); nothing
/// where there is none.
[[nodiscard]] const io::SweepEntry* find_variant(const io::Manifest& manifest, const Variant& variant);
/// The same. Throws InputError where there is none.
[[nodiscard]] const io::SweepEntry& require_variant(const std::filesystem::path& folder, const io::Manifest& manifest,
                                                    const Variant& variant);

/// Throws InputError for a variant whose counts alone were kept.
void require_labels(const std::filesystem::path& folder, const io::SweepEntry& entry);
/// Throws InputError for a file of results that is not what it was when it was written, where that is known.
void require_unchanged(const std::filesystem::path& folder, const io::Manifest& manifest, const std::string& name);

}  // namespace epsflow::cli
