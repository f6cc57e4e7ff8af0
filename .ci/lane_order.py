#!/usr/bin/env python3
"""Prints the lanes of .ci/lanes in the order in which a run tries them, one line each: its name and its seconds.

    lane_order.py TURN <CHANGED    CHANGED: the paths of changed files, one a line

The lanes stand on a circle, which each turn moves on by a third: three turns in a row begin at every lane. Those that the changed files
touch come first, in the order of the circle, then the others.
"""

import pathlib
import re
import sys


def read_lanes(table):
    """The lanes of the table, as (name, seconds, regular expression of paths)."""
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    rows = [line.split(None, 2) for line in lines[lines.index("lanes") + 1:]]
    return [(name, int(seconds), re.compile(paths)) for name, seconds, paths in rows]


def order(lanes, turn, changed):
    third = -(-len(lanes) // 3)
    first = turn % 3 * third
    circle = lanes[first:] + lanes[:first]
    touched = [lane for lane in circle if any(lane[2].search(path) for path in changed)]
    return touched + [lane for lane in circle if lane not in touched]


def main():
    table = pathlib.Path(__file__).with_name("lanes").read_text(encoding="utf-8")
    for name, seconds, _ in order(read_lanes(table), int(sys.argv[1]), sys.stdin.read().splitlines()):
        print(name, seconds)


if __name__ == "__main__":
    main()
