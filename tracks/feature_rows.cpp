#include <epsflow/tracks/feature_rows.hpp>

#include <algorithm>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::tracks {
namespace {

/// The distinct labels of a slice, ascending, and the number of points of each.
struct LabelsOfSlice {
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> points;
};

/// Buffers that are used for one slice after another.
struct LabelScratch {
  std::vector<std::uint32_t> counts;
  std::vector<std::int32_t> sorted;
};

/// Returns the labels of a slice. Counts if labels are dense, as the labels of a clustering are; otherwise sorts.
LabelsOfSlice labels_of(std::span<const std::int32_t> labels, LabelScratch& scratch) {
  LabelsOfSlice found;
  const std::int32_t most = labels.empty() ? kNoise : *std::max_element(labels.begin(), labels.end());
  if (most == kNoise) return found;
  if (static_cast<std::size_t>(most) < 4 * labels.size() + 64) {
    scratch.counts.assign(static_cast<std::size_t>(most) + 1, 0);
    for (const std::int32_t label : labels) {
      if (label != kNoise) ++scratch.counts[static_cast<std::size_t>(label)];
    }
    for (std::size_t label = 0; label < scratch.counts.size(); ++label) {
      if (scratch.counts[label] == 0) continue;
      found.labels.push_back(static_cast<std::int32_t>(label));
      found.points.push_back(scratch.counts[label]);
    }
    return found;
  }
  scratch.sorted.clear();
  for (const std::int32_t label : labels) {
    if (label != kNoise) scratch.sorted.push_back(label);
  }
  std::sort(scratch.sorted.begin(), scratch.sorted.end());
  for (const std::int32_t label : scratch.sorted) {
    if (found.labels.empty() || found.labels.back() != label) {
      found.labels.push_back(label);
      found.points.push_back(0);
    }
    ++found.points.back();
  }
  return found;
}

void require_size(std::size_t size, std::size_t n, const char* what) {
  if (size == n) return;
  throw UsageError("there are " + std::to_string(n) + " labels and " + std::to_string(size) + " " + what +
                   ": give one for each point");
}

}  // namespace

void check_slices(const SlicedLabels& slices) {
  const auto& starts = slices.starts;
  const std::size_t n = slices.labels.size();
  if (n > kMaxPoints) {
    throw UsageError("there are " + std::to_string(n) + " points, and tracks are found for at most " +
                     std::to_string(kMaxPoints) + ": give fewer slices at a time");
  }
  if (starts.empty() || starts.front() != 0 || starts.back() != n) {
    throw UsageError("the first rows of the slices are " +
                     (starts.empty()
                          ? std::string("missing")
                          : "from " + std::to_string(starts.front()) + " to " + std::to_string(starts.back())) +
                     ", and there are " + std::to_string(n) +
                     " labels: give the first row of each slice, from 0 on, and then " + std::to_string(n));
  }
  if (starts.size() - 1 > kMaxPoints) throw UsageError("there are more than 4 billion slices: give fewer at a time");
  const auto down = std::is_sorted_until(starts.begin(), starts.end());
  if (down != starts.end()) {
    const auto slice = down - starts.begin();
    throw UsageError("slice " + std::to_string(slice) + " begins at row " + std::to_string(*down) +
                     ", and the one before at row " + std::to_string(*(down - 1)) +
                     ": slices follow each other and do not overlap; sort the rows by slice");
  }
  if (!slices.core.empty()) require_size(slices.core.size(), n, "values of the core mask");
  if (!slices.ids.empty()) require_size(slices.ids.size(), n, "ids");
  if (slices.points.size() > 0) require_size(slices.points.size(), n, "points");
  for (std::size_t i = 0; i < n; ++i) {
    if (slices.labels[i] < kNoise) {
      throw UsageError("row " + std::to_string(i) + " has the label " + std::to_string(slices.labels[i]) +
                       ", and labels are clusters from 0 on, or -1 for noise");
    }
    if (slices.labels[i] == kNoise && !slices.core.empty() && slices.core[i] != 0) {
      throw InputError("row " + std::to_string(i) +
                       " is a core point and has the label -1, of noise, and core points are in clusters: give "
                       "labels and mask of the same clustering");
    }
  }
}

FeatureRows find_features(const SlicedLabels& slices, Tracks& found, const CancelToken& cancel) {
  const std::size_t count = slices.starts.size() - 1;
  std::vector<LabelsOfSlice> of_slice(count);
  const auto labels_in = [&](std::size_t s) {
    return slices.labels.subspan(slices.starts[s], slices.starts[s + 1] - slices.starts[s]);
  };
  parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
    LabelScratch scratch;
    for (std::size_t s = begin; s < end; ++s) of_slice[s] = labels_of(labels_in(s), scratch);
  });
  cancel.check();

  FeatureRows rows;
  found.slices = static_cast<std::uint32_t>(count);
  rows.first_feature.reserve(count + 1);
  rows.first_feature.push_back(0);
  rows.starts.push_back(0);
  for (std::size_t s = 0; s < count; ++s) {
    const LabelsOfSlice& own = of_slice[s];
    for (std::size_t k = 0; k < own.labels.size(); ++k) {
      found.features.push_back({.slice = static_cast<std::uint32_t>(s),
                                .label = own.labels[k],
                                .index = static_cast<std::uint32_t>(k),
                                .points = own.points[k]});
      rows.starts.push_back(rows.starts.back() + own.points[k]);
    }
    rows.first_feature.push_back(static_cast<std::uint32_t>(found.features.size()));
  }

  rows.rows.resize(rows.starts.back());
  found.feature_of.resize(slices.labels.size());
  parallel_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> next;
    for (std::size_t s = begin; s < end; ++s) {
      const std::vector<std::int32_t>& labels = of_slice[s].labels;
      const std::uint32_t first = rows.first_feature[s];
      next.assign(rows.starts.begin() + first,
                  rows.starts.begin() + first + static_cast<std::ptrdiff_t>(labels.size()));
      const bool consecutive =
          !labels.empty() && labels.front() == 0 && static_cast<std::size_t>(labels.back()) == labels.size() - 1;
      for (std::size_t i = slices.starts[s]; i < slices.starts[s + 1]; ++i) {
        const std::int32_t label = slices.labels[i];
        if (label == kNoise) {
          found.feature_of[i] = Tracks::kNoFeature;
          continue;
        }
        const std::size_t index =
            consecutive
                ? static_cast<std::size_t>(label)
                : static_cast<std::size_t>(std::lower_bound(labels.begin(), labels.end(), label) - labels.begin());
        found.feature_of[i] = first + static_cast<std::uint32_t>(index);
        rows.rows[next[index]++] = static_cast<std::uint32_t>(i);
        if (!slices.core.empty() && slices.core[i] != 0) ++found.features[first + index].core;
      }
    }
  });
  return rows;
}

}  // namespace epsflow::tracks
