"""Points from files, by the libraries that people have for them: the same points that the program reads."""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._columns import in_one, refuse_inexact


def read_points(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    columns: str | int | Iterable[str | int] | None = None,
    table: str | int | None = None,
    *,
    dims: int | None = None,
    precision: str | None = None,
    **text: Any,
) -> Any:
    """Read points from files, as the program does: text, NPY, NPZ, FITS, HDF5, Parquet, Arrow (Feather), raw floats; gzipped, too.

    Text takes pandas, FITS astropy, HDF5 h5py, Parquet and Arrow pyarrow. The first bytes of a file say what it is, else its name.

    Parameters
    ----------
    files : str, path or list of them
        The rows of several files of one kind follow each other.
    columns : str, int or list of them, optional
        Names, or numbers from 0, from the end where negative; every column where they are left out. One value of a column of vectors
        is "name[0]". Of NPZ and HDF5 they may be arrays of one axis, as "/lon" and "/lat".
    table : str or int, optional
        FITS: number or name of the extension, the first table where it is left out. HDF5, NPZ: the array, or a group of arrays.
    dims : int, optional
        Of raw files, the coordinates per point.
    precision : {"float32", "float64"}, optional
        Of raw files, where .f32 or .f64 does not say it.
    **text
        Of text, as `pandas.read_csv` takes them. Left out, `sep` and `header` are found out from the first row, which has the names of
        columns where it has no number. `comment`, "#" where it is left out, is what lines begin with that are skipped.

    Returns
    -------
    pandas.DataFrame or ndarray of shape (n_samples, n_features)
        What `epsflow.sweep` takes: a DataFrame where columns have names and pandas is there. float32 stays float32. Missing values are
        NaN; `epsflow.drop_missing` leaves their rows out. Units of FITS are not looked at; `astropy.table.Table.read` keeps them.

    Raises
    ------
    ImportError
        For a library that is not there, by its name.
    OSError, ValueError
        For files that are not there or damaged, columns that are not there, and what could be read in several ways.

    Examples
    --------
    >>> X = epsflow.read_points("galaxies.fits", ["ra", "dec"])
    >>> result = epsflow.sweep(X, eps=0.5, min_samples=5, metric="greatcircle")
    """
    wanted = columns if columns is None else list(columns) if np.iterable(columns) and not isinstance(columns, str) else [columns]
    paths = [Path(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)]
    given = {name: value for name, value in {"table": table, "dims": dims, "precision": precision}.items() if value is not None}
    parts = [_read_file(path, wanted, {**given, **text}) for path in paths]
    if not parts:
        raise ValueError("files is empty: name at least one file")
    names = [list(getattr(part, "columns", range(part.shape[1]))) for part in parts]
    for path, part, theirs in zip(paths, parts, names):
        if type(part) is not type(parts[0]) or len(theirs) != len(names[0]) or wanted is None and theirs != names[0]:
            raise ValueError(f"{path} has the columns {theirs[:40]}, and {paths[0]} has {names[0][:40]}: choose of them, columns=[…]")
    if len(parts) == 1 or isinstance(parts[0], np.ndarray):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return import_module("pandas").concat([part.set_axis(names[0], axis=1) for part in parts], ignore_index=True)


def _read_file(path: Path, columns: list[Any] | None, options: dict[str, Any]) -> Any:
    ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    is_raw = "dims" in options or ending in (".raw", ".bin", ".f32", ".f64")
    otherwise = partial(_read_raw, precision="float32" if ending == ".f32" else "float64") if is_raw else _read_text
    with open(path, "rb") as packed:
        try:
            file = gzip.open(packed) if packed.peek(2).startswith(b"\x1f\x8b") else packed
            begin, _ = file.read(16), file.seek(0)
            reader = next((known for magic, known in _READERS.items() if begin.startswith(magic)), otherwise)
            return _chosen(reader(file, columns, **options), columns)
        except ImportError as error:
            library = str(error.name).partition(".")[0]
            raise ImportError(f"{path} takes {library}, which is not there: pip install {library}", name=library) from error
        except Exception as error:  # each library has its own
            why = re.sub(r"^\S+\(\) ", "it is of a kind whose reader ", str(error))  # got an unexpected keyword argument
            raise (MemoryError if isinstance(error, MemoryError) else ValueError)(f"{path}: {why}") from error


def _numbers_of(names: list[Any], columns: list[Any] | None) -> list[int]:
    count = len(names)
    known = {str(name).strip().lower(): i for i, name in enumerate(names)} | {name: i for i, name in enumerate(names)}
    known |= {i: i % count for i in range(-count, count)}
    asked = list(range(count)) if columns is None else [c.strip().lower() if isinstance(c, str) and c not in known else c for c in columns]
    if wrong := [c for i, c in enumerate(asked) if c not in known or known[c] in [known[before] for before in asked[:i]]]:
        raise ValueError(f"column {wrong[0]!r} is not there, or given twice: columns= takes numbers below {count}, and names of {names[:40]}")
    return [known[c] for c in asked]


def _chosen(found: Any, columns: list[Any] | None) -> Any:
    """Of an array [n, d], or of functions that give columns, by their names, or by numbers where they have none."""
    if isinstance(found, np.ndarray):
        return found if columns is None else found[:, _numbers_of(list(range(found.shape[1])), columns)]
    names = list(found)
    chosen = {names[i]: found[names[i]]() for i in _numbers_of(names, columns)}
    if util.find_spec("pandas") is not None and names != list(range(len(names))):
        return import_module("pandas").DataFrame(chosen)
    return in_one([refuse_inexact(np.asarray(values), name) for name, values in chosen.items()], len(next(iter(chosen.values()))))


def _of_array(array: Any) -> Any:
    """Of an array, or of a table of astropy, where each number of a vector is a column."""
    if not array.dtype.names:
        if array.ndim not in (1, 2):
            raise ValueError(f"points are rows of coordinates, and its array has the shape {array.shape}")
        return array.reshape(-1, 1) if array.ndim == 1 else array
    parts = {name: array[name].reshape(len(array), math.prod(array[name].shape[1:])) for name in array.dtype.names}
    cells = [(name, k, f"{name}[{k}]" if array[name].ndim > 1 else name) for name, part in parts.items() for k in range(part.shape[1])]
    return {shown: partial(_plain, parts[name][:, k], shown) for name, k, shown in cells}


def _plain(values: Any, name: str) -> NDArray[Any]:
    """In native byte order; numbers that are masked are NaN."""
    mask, array = getattr(values, "mask", False), np.asarray(getattr(values, "unmasked", values))
    if np.any(mask) and array.dtype.kind in "iub":
        array = np.where(mask, np.nan, refuse_inexact(np.where(mask, 0, array), name))
    return np.asarray(array, array.dtype.newbyteorder("="))


def _of_arrays(arrays: Mapping[str, Any], columns: Any, table: str, read: Callable[[Any], NDArray[Any]]) -> Any:
    """Of the array that is named, of those that columns name, or of the only one that can be points."""
    table = str(table).strip("/")
    inside = {name[len(table) :].strip("/"): arrays[name] for name in arrays if not table or f"{name}/".startswith(f"{table}/")}
    if columns and all(str(column).strip("/") in inside for column in columns):
        return {column: partial(_plain, read(inside[str(column).strip("/")]), column) for column in columns}
    suitable = [a for a in inside.values() if len(inside) == 1 or a.dtype.names or a.ndim in (1, 2) and a.dtype.kind in "fiub"]
    if len(suitable) != 1:
        raise ValueError(f"say which array the points are, table=, or columns= of one axis each, of {list(arrays)[:40]}")
    return _of_array(read(suitable[0]))


def _of_dataset(dataset: Any) -> NDArray[Any]:
    if packed := {"_FillValue", "missing_value", "scale_factor", "add_offset"} & set(dataset.attrs):
        raise ValueError(f"{dataset.name} is of netCDF, with {min(packed)}: give epsflow.sweep what xarray.open_dataset reads")
    return np.asarray(dataset[()])


def _read_hdf5(file: Any, columns: Any, table: str = "") -> Any:
    h5py = import_module("h5py")
    arrays: dict[str, Any] = {}
    with h5py.File(file, "r") as opened:
        opened.visititems(lambda path, found: arrays.update({path: found} if isinstance(found, h5py.Dataset) else {}))
        return _of_arrays(arrays, columns, table, _of_dataset)


def _read_fits(file: Any, columns: Any, table: str | int | None = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of units, and of tables behind the first
        which = {"hdu": int(str(table)) if str(table).isdigit() else table, "mask_invalid": False}
        return _of_array(import_module("astropy.table").Table.read(file, format="fits", **which))


def _read_parquet(file: Any, columns: Any) -> Any:
    opened = import_module("pyarrow.parquet").ParquetFile(file)
    return {name: lambda name=name: _of_arrow(opened.read([name]).column(0)) for name in opened.schema_arrow.names}


def _read_arrow(file: Any, columns: Any) -> Any:
    table = import_module("pyarrow.feather").read_table(file, memory_map=False)
    return {name: partial(_of_arrow, table.column(i)) for i, name in enumerate(table.schema.names)}


def _of_arrow(column: Any) -> Any:
    """Whole numbers beside nulls stay what they are."""
    return np.array(column.to_pylist(), object) if column.null_count and "int" in str(column.type) else column.to_numpy()


def _read_raw(file: Any, columns: Any, dims: int, precision: str) -> Any:
    if precision not in ("float32", "float64"):
        raise ValueError(f"precision={precision!r} is none of 'float32', 'float64'")
    return np.frombuffer(file.read(), np.dtype(precision).newbyteorder("<")).reshape(-1, dims)


def _read_text(file: Any, columns: Any, **options: Any) -> Any:
    pandas = import_module("pandas")
    mark = re.escape(options.pop("comment", "#") or "\0").encode()
    # Comments are whole lines: "#N/A" is a value.
    text = re.sub(rb"(?m)^[ \t]*(%b.*|\r?)(\n|\Z)" % mark, b"", file.read().split(b"\n", options.pop("skiprows", 0))[-1])
    first = text[: 1 << 16].decode(errors="replace").partition("\n")[0].strip("\ufeff \r")
    sep = options.pop("delimiter", None) or options.pop("sep", None) or next((sep for sep in "\t;,|" if sep in first), r"\s+")
    fields = [field.strip(' "') for field in re.split(sep if len(sep) > 1 else re.escape(sep), first)]
    if b"\0" in text[:4096] or not {"header", "names"} & set(options) and fields == [str(i) for i in range(len(fields))]:
        raise ValueError(f"it begins with {first[:40]!r}: say header=None or header=0 of text, dims= of raw floats; other kinds are not known")
    has_number = any(re.fullmatch(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?|[-+]?(nan|inf)", field, re.IGNORECASE) for field in fields)
    defaults = {"header": None if has_number or "names" in options else 0, "skipinitialspace": True, "index_col": False, "low_memory": False}
    exact = {"float_precision": "round_trip"} if int(pandas.__version__.partition(".")[0]) < 4 else {}  # where that is not the default
    options = {**defaults, "na_values": ["-", "--", "---", "?"], **exact, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of float_precision
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # of rows that are longer than the first
        frame = pandas.read_csv(io.BytesIO(text), sep=sep, **options)
    return {name: partial(frame.get, name) for name in frame}


_READERS: dict[bytes, Any] = {
    b"\x93NUMPY": lambda file, columns: _of_array(np.load(file)),
    b"PK\x03\x04": lambda file, columns, table="": _of_arrays(np.load(file), columns, table, np.asarray),
    b"SIMPLE  =": _read_fits,
    b"\x89HDF\r\n\x1a\n": _read_hdf5,
    b"PAR1": _read_parquet,
    **dict.fromkeys((b"ARROW1", b"FEA1"), _read_arrow),
}
"""By what their files begin with."""
