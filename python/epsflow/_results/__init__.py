"""Results folders, those that the program writes: reading them, and writing ones that it goes on with.

The rules are those of io/results/results_folder.hpp: sweep.json and summary.csv name every file with its checksum, and only what they name
is ever replaced or removed; what is not complete lies in FOLDER/.epsflow, with a lock that dies with its process.
"""

from __future__ import annotations

from .content import Origin, stored
from .names import Folder
from .reading import load_folder
from .writing import save_folder

__all__ = ["Folder", "Origin", "load_folder", "save_folder", "stored"]
