// The texts in a pickled list, without running what a pickle may ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::io {

/// The texts and whole numbers (as decimals) in a pickle of lists and tuples of those, protocol 0 to 5, in their order.
/// Nothing when it holds anything else or is damaged: nothing is looked up, called or made. O(bytes).
/// Source: the table of operations in Python's Lib/pickletools.py.
[[nodiscard]] std::optional<std::vector<std::string>> read_pickled_strings(std::string_view pickle);

}  // namespace epsflow::io
