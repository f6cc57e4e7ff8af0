#!/usr/bin/env python3
"""Prints the lanes of .ci/lanes in the order in which a run tries them, one line each: its name and its seconds.

    lane_order.py TURN SECONDS <CHANGED    SECONDS: the time left for lanes; CHANGED: the paths of changed files, one a
                                           line

The lanes stand on a circle, which each turn moves on by a third. Those that the changed files touch come first, as many
as leave time for the third that has its turn. So every lane runs at least in every third turn, whatever is changed.
"""

import pathlib
import re
import sys


def read_lanes(table):
    """The lanes of the table, as (name, seconds, regular expression of paths)."""
    lines = [line for line in re.sub("\n +", "", table).splitlines() if line and not line.startswith("#")]
    rows = [line.split(None, 2) for line in lines[lines.index("lanes") + 1:]]
    return [(name, int(seconds), re.compile(paths)) for name, seconds, paths in rows]


def order(lanes, turn, changed, seconds):
    third = -(-len(lanes) // 3)
    first = turn % 3 * third
    circle = lanes[first:] + lanes[:first]
    due, others = circle[:third], circle[third:]
    touched = [lane for lane in circle if any(lane[2].search(path) for path in changed)]
    spare = seconds - sum(lane[1] for lane in due)
    beside = []
    for lane in others:
        if lane in touched and lane[1] <= spare:
            beside.append(lane)
            spare -= lane[1]
    start = [lane for lane in due if lane in touched] + beside
    start += [lane for lane in due if lane not in start]
    start += [lane for lane in touched if lane not in start]
    return start + [lane for lane in circle if lane not in start]


def main():
    table = pathlib.Path(__file__).with_name("lanes").read_text(encoding="utf-8")
    for name, seconds, _ in order(read_lanes(table), int(sys.argv[1]), sys.stdin.read().splitlines(), int(sys.argv[2])):
        print(name, seconds)


if __name__ == "__main__":
    main()
