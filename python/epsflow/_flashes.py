"""Flashes: clusters of lightning events, with the variables of xlma-python's netCDF files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._compare import as_labels
from ._docs import documented
from ._frames import library_of

_NO_FLASH = np.iinfo(np.uint64).max
_TREE = {"_FillValue": _NO_FLASH, "cf_role": "tree_id"}


@documented
def flashes(events: Any, labels: Any) -> Any:
    """Return clusters of lightning events as flashes, with the variables that xlma-python uses for its clustering.

    Parameters
    ----------
    events : xarray.Dataset
        Events with the dimension "number_of_events", as pyxlma.lmalib.io.read returns them. It is not changed.
    {labels}

    Returns
    -------
    xarray.Dataset
        events with further variables and attributes. For events: "event_parent_flash_id", the label, or the fill value
        2**64 - 1 for noise; and "event_id", the index, if it was missing. For flashes (the clusters): "flash_id", the
        label, "flash_event_count" and, if there are "event_time" and at least one flash, "flash_time_start" and
        "flash_time_end". Existing flashes are replaced. The method to_netcdf() writes a netCDF file.

    Raises
    ------
    TypeError, ValueError
        If events is not such a data set, or if labels do not match it.

    Examples
    --------
    >>> labels = epsflow.sweep(scaled, eps=1.0, min_samples=10)[0]
    >>> epsflow.flashes(events, labels).to_netcdf("flashes.nc")
    """
    if library_of(events) != "xarray" or not hasattr(events, "drop_dims"):
        raise TypeError(
            f"events is of type {type(events).__name__}; it is an xarray.Dataset with the dimension number_of_events, "
            "as xlma-python has it"
        )
    if "number_of_events" not in events.sizes:
        raise ValueError(
            f"events has the dimensions {', '.join(map(str, events.sizes))}, and none that is called number_of_events: "
            "rename that of the events"
        )
    of_events = as_labels(labels, "labels")
    if len(of_events) != events.sizes["number_of_events"]:
        raise ValueError(
            f"there are {events.sizes['number_of_events']} events and {len(of_events)} labels: give one for each"
        )
    if "number_of_flashes" in events.sizes:
        events = events.drop_dims("number_of_flashes")
    found, codes, counts = np.unique(of_events[of_events >= 0], return_inverse=True, return_counts=True)
    parent = np.where(of_events >= 0, of_events.astype(np.uint64), _NO_FLASH)
    event, flash = "number_of_events", "number_of_flashes"
    ids = events["event_id"].values if "event_id" in events.variables else np.arange(len(of_events), dtype=np.uint64)
    attributes = events["event_id"].attrs if "event_id" in events.variables else {"_FillValue": _NO_FLASH}
    variables = {
        "event_id": (
            event, ids, {**attributes, "parent": "flash_id", "parent_id": "event_parent_flash_id", "cf_role": "tree_id"}
        ),
        "event_parent_flash_id": (event, parent, {**_TREE, "coordinates": "event_id"}),
        "flash_id": (flash, found.astype(np.uint64), {**_TREE, "child": "event_id"}),
        "flash_event_count": (
            flash, counts.astype(np.uint32), {"long_name": "Count of events in flash", "valid_min": 1}
        ),
    }
    if "event_time" in events.variables and len(found) > 0:
        times = events["event_time"].values[of_events >= 0]
        order = np.argsort(codes.reshape(-1), kind="stable")
        first = np.append(0, np.cumsum(counts)[:-1])
        for end, extreme in (("start", np.minimum), ("end", np.maximum)):
            of_time = {"standard_name": "time", "long_name": f"{end.capitalize()} time of flash"}
            variables[f"flash_time_{end}"] = (flash, extreme.reduceat(times[order], first), of_time)
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("epsflow")
    except PackageNotFoundError:
        installed = "unknown"
    described = {"cf_tree_order": f"{flash} {event}", "flash_algorithm_name": "epsflow DBSCAN"}
    return events.assign(variables).assign_attrs(described, flash_algorithm_version=installed)
