"""Tests flashes(), which makes flashes of clusters of lightning events."""

import re

import numpy as np
import pytest

import epsflow

xarray = pytest.importorskip("xarray")

LABELS = [2, -1, 0, 2, 0, 0]
NO_FLASH = 2**64 - 1


def events(**more):
    time = np.datetime64("2023-12-24T00:57:01", "ns") + np.array([5, 1, 3, 4, 9, 2]) * np.timedelta64(1, "ms")
    return xarray.Dataset(
        {"event_time": ("number_of_events", time), "event_latitude": ("number_of_events", np.arange(6.0)), **more},
        attrs={"title": "LMA"},
    )


def test_flashes():
    given = events()
    found = epsflow.flashes(given, LABELS)
    assert "flash_id" not in given and found.attrs["title"] == "LMA"
    assert found.attrs["cf_tree_order"] == "number_of_flashes number_of_events"
    assert found.event_parent_flash_id.dtype == found.flash_id.dtype == found.event_id.dtype == np.uint64
    assert found.event_parent_flash_id.values.tolist() == [2, NO_FLASH, 0, 2, 0, 0]
    assert found.flash_id.values.tolist() == [0, 2] and found.flash_event_count.values.tolist() == [3, 2]
    assert found.event_id.values.tolist() == [0, 1, 2, 3, 4, 5] and found.event_id.attrs["parent"] == "flash_id"
    base = np.datetime64("2023-12-24T00:57:01", "ns")
    assert ((found.flash_time_start - base) / np.timedelta64(1, "ms")).values.tolist() == [2, 4]
    assert ((found.flash_time_end - base) / np.timedelta64(1, "ms")).values.tolist() == [9, 5]


def test_flashes_are_replaced_and_ids_of_events_kept():
    given = epsflow.flashes(events(event_id=("number_of_events", np.arange(10, 16, dtype=np.uint64))), LABELS)
    found = epsflow.flashes(given, [0, 0, 0, 1, 2, -1])
    assert found.event_id.values.tolist() == list(range(10, 16))
    assert found.flash_id.values.tolist() == [0, 1, 2]
    nothing = epsflow.flashes(events(), [-1] * 6)
    assert nothing.sizes["number_of_flashes"] == 0 and (nothing.event_parent_flash_id == NO_FLASH).all()


def test_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4", reason="netCDF4 is not installed, which writes the file")
    epsflow.flashes(events(), LABELS).to_netcdf(tmp_path / "flashes.nc", engine="netcdf4")
    with netcdf.Dataset(tmp_path / "flashes.nc") as file:
        file.set_auto_mask(False)
        assert file["event_parent_flash_id"][:].tolist() == [2, NO_FLASH, 0, 2, 0, 0]
        assert file["event_parent_flash_id"]._FillValue == NO_FLASH and file["flash_id"].child == "event_id"


@pytest.mark.parametrize(
    ("given", "labels", "error", "text"),
    [
        (np.zeros((6, 2)), LABELS, TypeError, "events is of type ndarray; it is an xarray.Dataset"),
        (xarray.Dataset({"a": ("events", [1.0])}), [0], ValueError,
         "events has the dimensions events, and none that is called number_of_events"),
        (events(), LABELS[:5], ValueError, "there are 6 events and 5 labels"),
    ],
)
def test_what_cannot_be_is_refused(given, labels, error, text):
    with pytest.raises(error, match=re.escape(text)):
        epsflow.flashes(given, labels)
