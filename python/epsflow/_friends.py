"""Friends of friends: DBSCAN with the words of cosmology."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._catalog import as_column, catalog_columns, columns_of
from ._docs import documented
from ._engine import Engine, engine_for
from ._gpu_arrays import on_host
from ._labelled import as_frame
from ._loaded import Loaded
from ._parameters import as_choice, as_count, as_eps, as_flag, as_options
from ._tasks import made_by, python_errors, run_task
from ._units import components_of, in_columns_of, parse_input


class Groups:
    """Groups of friends. `epsflow.friends_of_friends` returns it.

    Attributes
    ----------
    labels : ndarray of int32 of shape (n_samples,)
        The group of each point, with the numbers of `dialect`.
    attached : ndarray of int32 of shape (n_others,), or None
        The group of each point of `attach`, with the same numbers. None without `attach`.
    n_groups : int
        The number of groups.
    linking_length : float
        The largest distance of linked points, in the unit of eps.
    dialect : str
        The numbering of groups: "epsflow", "swift" or "nbodykit".
    """

    def __init__(
        self, labels: NDArray[np.int32], n_groups: int, linking_length: float, dialect: str, of: dict[str, Any],
        attached: NDArray[np.int32] | None = None,
    ) -> None:
        self._numbers = labels
        self._attached = attached
        self.n_groups = n_groups
        self.linking_length = linking_length
        self.dialect = dialect
        self.labels: NDArray[np.int32] = np.asarray(_core.translate_groups(labels, dialect))
        self.attached: NDArray[np.int32] | None = (
            None if attached is None else np.asarray(_core.translate_groups(attached, dialect))
        )
        self._of = of

    @property
    def catalog(self) -> Any:
        """One row per group, in the order of their numbers: a pandas.DataFrame, or a structured array without pandas.

        The columns are group, size, core (equal to size), first_core (the first point of the group), weight_total (with
        weights), and for the coordinates the centre (of mass), spread, bounds and radius of `epsflow.catalog`. With
        velocity there are also vx_mean (weighted by the masses), vx_sum, vx_min, vx_max and so on; for each of
        `columns` NAME_mean (unweighted), NAME_sum, NAME_min and NAME_max; and with attach `attached`, the number of
        attached points. The dialect nbodykit has only the columns of nbodykit's FOF catalogue: CMPosition, CMVelocity
        (with velocity) and Length, in a structured array whose row 0 stands for points in no group. Raises ValueError
        if a weight is below 0 or not finite, or if two columns have the same name.
        """
        of = self._of
        core = self._numbers >= 0
        velocity = [(name, values, True) for name, values in zip(("vx", "vy", "vz"), of["velocity"])]
        columns = velocity + of["columns"]
        table = catalog_columns(of["points"], of["metric"], self._numbers, core, of["weights"], columns)
        if self.dialect == "nbodykit":
            return _nbodykit(table, of["points"].shape[1], bool(velocity))
        if self._attached is not None:
            table["attached"] = np.bincount(self._attached[self._attached >= 0], minlength=self.n_groups)
        groups = table.pop("cluster") + (0 if self.dialect == "epsflow" else 1)
        return as_frame({"group": groups, **table})

    @documented
    def to_swift(
        self, path: str | os.PathLike[str], *, length: float = 3.08567758e24, mass: float = 1.98841e43,
        overwrite: bool = False,
    ) -> None:
        """Write the catalogue in HDF5 as SWIFT's friends-of-friends finder does. `swiftsimio.load` opens it.

        Its data sets are Groups/Masses (the sums of the weights, or the numbers of points if there are none), Centres,
        GroupIDs (from 1) and Sizes.

        Parameters
        ----------
        path : str or path
        length, mass : float
            The units of the points and of the weights, in cm and g. The defaults are Mpc and 10^10 solar masses.
        {overwrite}

        {file_errors}
        ValueError
            If the points are not in three dimensions, if a weight is below 0 or not finite, or if h5py is missing.
        """
        points = self._of["points"]
        if points.shape[1] != 3:
            raise ValueError(f"the points have {points.shape[1]} columns, and SWIFT's catalogue is of three dimensions")
        try:
            import h5py
        except ImportError:
            raise ValueError("SWIFT's catalogue is HDF5, which needs h5py: install h5py") from None
        if os.path.exists(path) and not as_flag(overwrite, "overwrite"):
            raise FileExistsError(
                errno.EEXIST, "the file is there: give another name, or overwrite=True", os.fspath(path)
            )
        table = catalog_columns(points, self._of["metric"], self._numbers, None, self._of["weights"])
        centres = np.stack([values for name, values in table.items() if name.endswith("_center")], axis=1)
        masses = np.asarray(table.get("weight_total", table["size"]), np.float64)
        sides = self._of["metric"].box or [(0.0, 0.0)]
        box = [side[1] - side[0] for side in (sides * 3 if len(sides) == 1 else sides)]
        # The file appears as a whole or not at all.
        handle, aside = tempfile.mkstemp(".partial", "fof", os.path.dirname(os.path.abspath(path)))
        os.close(handle)
        try:
            with h5py.File(aside, "w") as file:
                _write_swift(
                    file, box, length, mass,
                    {"Masses": masses, "Centres": centres, "GroupIDs": table["cluster"] + 1, "Sizes": table["size"]},
                )
            os.replace(aside, path)
        except BaseException:
            os.remove(aside)
            raise

    def __repr__(self) -> str:
        return f"<epsflow.Groups: {self.n_groups} at the linking length {self.linking_length:g}>"


_SWIFT_FIELDS = {
    "Masses": (1, 0, 0, "FOF group masses"),
    "Centres": (0, 1, 1, "FOF group centres of mass"),
    "GroupIDs": (0, 0, 0, "FOF group IDs"),
    "Sizes": (0, 0, 0, "FOF group length (number of particles)"),
}
"""Exponents of mass, length and scale factor, and a description of each field."""


def _write_swift(file: Any, box: list[float], length: float, mass: float, fields: dict[str, NDArray[Any]]) -> None:
    """Writes the file as SWIFT's src/fof_catalogue_io.c does: a header, units, and the fields with their units."""
    groups = len(fields["Sizes"])
    header = file.create_group("Header")
    header.attrs.update({
        "BoxSize": np.array(box, np.float64), "Dimension": np.array([3]), "Redshift": np.array([0.0]),
        "Scale-factor": np.array([1.0]), "Time": np.array([0.0]), "NumFilesPerSnapshot": np.array([1], np.int32),
        "ThisFile": np.array([0], np.int32), "Virtual": np.array([0], np.int32), "MassTable": np.zeros(7),
        **{name: np.zeros(7, np.int64) for name in ("NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord")},
        "NumGroups_Total": np.array([groups]), "NumGroups_ThisFile": np.array([groups]),
    })
    words = {
        "Code": "epsflow", "RunName": "epsflow", "System": "", "OutputType": "FOF", "SelectOutput": "Default",
        "SnapshotDate": "00:00:00 1970-01-01 UTC",
    }
    header.attrs.update({name: np.bytes_(text) for name, text in words.items()})
    units = {
        "mass in cgs (U_M)": mass, "length in cgs (U_L)": length, "time in cgs (U_t)": length / 1e5,
        "current in cgs (U_I)": 1.0, "temperature in cgs (U_T)": 1.0,
    }
    for name in ("Units", "InternalCodeUnits"):
        file.create_group(name).attrs.update({f"Unit {unit}": np.array([value]) for unit, value in units.items()})
    file.create_group("Cosmology").attrs["Cosmological run"] = np.array([0])
    for name in ("Code", "Parameters"):
        file.create_group(name)
    held = file.create_group("Groups")
    for name, values in fields.items():
        of_mass, of_length, of_scale, description = _SWIFT_FIELDS[name]
        exponents = {"U_M": of_mass, "U_L": of_length, "U_t": 0, "U_I": 0, "U_T": 0, "h-scale": 0, "a-scale": of_scale}
        attributes = held.create_dataset(name, data=values).attrs
        attributes.update({f"{unit} exponent": np.array([power], np.float32) for unit, power in exponents.items()})
        factor = np.array([mass**of_mass * length**of_length])
        attributes["Conversion factor to CGS (not including cosmological corrections)"] = factor
        attributes["Conversion factor to physical CGS (including cosmological corrections)"] = factor
        attributes["Description"] = np.bytes_(description)
        attributes["Lossy compression filter"] = np.bytes_("None")


def _nbodykit(table: dict[str, Any], dims: int, moves: bool) -> NDArray[Any]:
    fields = {"CMPosition": [name for name in table if name.endswith("_center")]}
    if moves:
        fields["CMVelocity"] = [f"{name}_mean" for name in ("vx", "vy", "vz")[:dims]]
    types: list[Any] = [(field, np.float64, (dims,)) for field in fields]
    made = np.zeros(len(table["cluster"]) + 1, [*types, ("Length", np.int64)])
    for field, names in fields.items():
        made[field][0] = np.nan
        made[field][1:] = np.stack([table[name] for name in names], axis=1)
    made["Length"][1:] = table["size"]
    return made


@documented
def friends_of_friends(
    X: Any, linking_length: float | None = None, *, b: float | None = None, box: Any = None, min_size: int = 2,
    weights: Any = None, velocity: Any = None, columns: Any = None, attach: Any = None, ids: str = "size",
    dialect: str = "epsflow",
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> Groups:
    """Find groups of points that are connected by links, which are pairs with at most the linking length between them.

    This is DBSCAN with min_samples=2, with the words of cosmology.

    Parameters
    ----------
    {points}
        Points on a GPU are copied to the host. Sparse points are an error.
    linking_length : float, optional
        The maximum distance of linked points, in the unit of eps. A distance of exactly this length counts.
    b : float, optional
        The linking length as a fraction of the mean separation (volume / n_samples)^(1 / n_features) of points that
        fill `box`, whose sides are first multiplied by "scale" if metric_params has it. Give either b or
        linking_length.
    box : float or sequence, optional
        The periodic box, as "box" in the metric_params of `epsflow.sweep`: one length for all columns, or one for each.
    min_size : int
        The least number of points of a group. Smaller groups are dissolved. With 1, single points are groups, too, as
        with min_samples=1.
    weights : array of shape (n_samples,), optional
        Masses of at least 0, which `Groups.catalog` checks. They weight the catalogue but do not change the groups.
    velocity : array of shape (n_samples, n_features), optional
        Velocities for the catalogue, if n_features is at most 3. Columns of a table are matched by the names of X's
        columns, with or without a leading v.
    columns : dict of str to array, optional
        Further columns that the catalogue summarizes, as `epsflow.catalog` takes them.
    attach : array or table of shape (n_others, n_features), optional
        Points that join the group of the nearest point of X within the linking length, as gas and stars do in SWIFT
        (see `Groups.attached`). If several are equally near, the first one decides. If the nearest point is in no
        group, they join none. Columns are matched by name if both have names.
    ids : {"size", "first"}
        Whether groups are numbered by size, the largest first (of equal sizes, by the first point), or by their first
        point.
    dialect : {"epsflow", "swift", "nbodykit"}
        Numbers of groups and of points in no group: from 0 and -1; from 1 and 2147483647; from 1 and 0.
    {distance} {machine}

    Returns
    -------
    Groups

    {errors}
    ValueError
        Also if neither or both of linking_length and b are given, if b is given without a closed box, if the dialect is
        unknown, if velocity has another shape or more than three columns, or if the points to attach have other columns
        or units than X.

    Examples
    --------
    >>> groups = epsflow.friends_of_friends(X, b=0.2, box=250.0, min_size=32, weights=mass)
    >>> groups.catalog
    """
    if (linking_length is None) == (b is None):
        raise ValueError("say how far friends are apart by one of linking_length and b")
    params = dict(metric_params or {})
    if box is not None:
        if "box" in params:
            raise ValueError("box is given, and in metric_params as well: give it once")
        params["box"] = box
    least = as_count(min_size, "min_size", 1)
    given = parse_input(on_host(X), metric, params or None)
    points: Any = given.points
    words, (n, d) = given.metric, points.shape
    if linking_length is None:
        fraction = as_eps(b, None, "b")
        with python_errors():
            length = fraction * words.mean_separation(d, n)
    else:
        length = as_eps(linking_length, None, "linking_length")
    as_choice(dialect, "dialect", "epsflow")
    others: Any = None
    if attach is not None:
        others = in_columns_of(given, parse_input(on_host(attach), metric, params or None, "attach"), "attach").points
    masses = None if weights is None else as_weights(weights, n, "weights")
    moves: list[NDArray[np.float64]] = []
    if velocity is not None:
        of_points = components_of(given, on_host(velocity), "velocity")
        if of_points.shape != (n, d) or d > 3:
            raise ValueError(
                f"velocity.shape == {of_points.shape}, expected {(n, d)}, in up to three dimensions: "
                "one for each sample"
            )
        moves = [as_column(of_points[:, k], "velocity", n) for k in range(d)]
    held = {"points": points, "metric": words, "weights": masses, "velocity": moves}
    held["columns"] = columns_of(X, columns, n)
    data = Loaded(engine_for(engine, given, backend, memory, threads), given)
    found: list[Any] = []
    run_task(
        _core.Dataset.start_sweep, data._data, [(length, 1 if least < 2 else 2)], {}, None, on_results=found.extend
    )
    with python_errors():
        numbers, count = _core.resolve_groups(found[0].labels, found[0].clusters, least, as_choice(ids, "ids", "size"))
    labels = np.asarray(numbers)
    joined = None
    if others is not None:
        linked = _core.Points(points, words, labels)
        joined = np.asarray(made_by(_core.start_attach, linked, others, length, as_options(threads=threads)))
    return Groups(labels, int(count), float(length), dialect, held, joined)
