// The input of a sweep over several processes, each of which reads its share.
#pragma once

#include <cstdint>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/machine_share.hpp>

namespace epsflow::cli {

/// Reads the share of this rank. Files are at least as many as ranks: each reads whole files; else the ranks of a file read its rows
/// together. Either way points are in the order in which one process reads them, through the ranks. All get the columns of the first file, and
/// float64 where one of them has it. Unless --quiet is given the first rank says what was read. Sets `origin` on the first rank: that of all
/// points. Collective; throws RanksFailed.
[[nodiscard]] io::FilePoints read_share(const Arguments& arguments, parts::Exchange& ranks,
                                        const parts::MachineShare& machine, io::PointsOrigin& origin);

/// What one process would say of all points; nothing but the number of points is set on other ranks than the first. Collective.
[[nodiscard]] io::ResultsInput results_input(parts::Exchange& ranks, const io::FilePoints& share,
                                             io::PointsOrigin origin);

}  // namespace epsflow::cli
