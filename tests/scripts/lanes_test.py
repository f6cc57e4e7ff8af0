"""Tests the order of the checks' lanes, and how long each waits at most: lanes_test.py ROOT"""

import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
SPEC = importlib.util.spec_from_file_location("lane_order", ROOT / ".ci" / "lane_order.py")
lane_order = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(lane_order)
LANES = lane_order.read_lanes((ROOT / ".ci" / "lanes").read_text(encoding="utf-8"))

# Twelve successive changes: their paths, and the seconds that the core took.
CHANGES = [
    (["io/read/text/text_table.cpp", "tests/io/read/text/text_table_test.cpp"], 1500),
    (["docs/howto/files.md", "README.md"], 1400),
    (["index/grid.cpp", "index/grid.hpp", "tests/index/grid_test.cpp"], 1600),
    (["parts/local_sweep.cpp", "parts/merge.cpp", "tests/parts/local_parts_test.cpp"], 2100),
    (["gpu/direct/dense_box_unions.cu"], 1500),
    (["python/epsflow/_sweep.py", "python/tests/test_sweep.py"], 1550),
    (["core/options.hpp", "pipeline/flow.cpp", "cli/sweep_command.cpp", "gpu/gpu_backend.cpp", "parts/merge.hpp",
      "io/formats.cpp"], 2100),
    (["cli/fof_command.cpp", "cli/catalogs.cpp"], 1700),
    (["core/space.hpp", "pipeline/slices.cpp", "clustering/cell_counts.cpp"], 2000),
    (["CMakeLists.txt", ".ci/lanes"], 1500),
    (["report/page.js", "report/report.cpp"], 1500),
    (["parts/merge.cpp", "pipeline/engine.cpp", "pipeline/engine.hpp"], 2100),
]


def lanes_run(turn, changed, core_seconds):
    """Returns the names of the lanes that a run starts, as .ci/run selects them."""
    seconds, names = core_seconds, []
    for name, listed, _ in lane_order.order(LANES, turn, changed, 3600 - core_seconds):
        if seconds + listed <= 3600:
            seconds += listed
            names.append(name)
    return names


class Order(unittest.TestCase):
    def test_every_lane_is_there_once(self):
        for turn in range(4):
            self.assertCountEqual(lane_order.order(LANES, turn, ["io/formats.cpp"], 2000), LANES)

    def test_three_turns_begin_at_every_lane(self):
        third = len(LANES) // 3
        first = [name for turn in range(3) for name, _, _ in lane_order.order(LANES, turn, [], 2000)[:third]]
        self.assertCountEqual(first, [name for name, _, _ in LANES])

    def test_what_a_change_touches_comes_first(self):
        for path, lanes in [("io/row_file.cpp", {"fuzz", "tidy"}), ("gpu/tiles/tile_walk.cuh", {"cuda", "headers"}),
                            ("mpi/mpi_ranks.cpp", {"mpi", "tidy"}), ("tests/report/page_test.py", {"pages", "asan-c"})]:
            for turn in range(3):
                names = [name for name, _, _ in lane_order.order(LANES, turn, [path], 2000)]
                self.assertEqual(set(names[:len(lanes)]), lanes, path)

    def test_a_change_of_everything_leaves_time_for_the_turn(self):
        everything = ["core/space.hpp", "parts/merge.cpp", "gpu/gpu_index.hpp", "io/formats.cpp", "docs/index.md",
                      "pipeline/flow.cpp", "CMakeLists.txt"]
        for turn in range(3):
            third = {name for name, _, _ in lane_order.order(LANES, turn, [], 2000)[:len(LANES) // 3]}
            self.assertLessEqual(third, set(lanes_run(turn, everything, 2100)))

    def test_no_lane_waits_longer_than_three_changes(self):
        for first_turn in range(3):
            waits = {name: 0 for name, _, _ in LANES}
            for number, (changed, core_seconds) in enumerate(CHANGES):
                names = lanes_run(first_turn + number, changed, core_seconds)
                print(first_turn + number, *names)
                waits = {name: 0 if name in names else wait + 1 for name, wait in waits.items()}
                self.assertLessEqual(max(waits.values()), 3, waits)


if __name__ == "__main__":
    unittest.main()
