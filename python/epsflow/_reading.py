"""Reads points from the file formats that the program reads, with widely used Python libraries."""

from __future__ import annotations

import csv
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._columns import in_one, refuse_beyond, refuse_inexact


def read_points(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    columns: str | int | Iterable[str | int] | None = None, table: str | int | None = None, *, dims: int | None = None,
    precision: str | None = None, **text: Any
) -> Any:
    """Read points from files: text, NPY, NPZ, FITS, HDF5, Parquet, Arrow (Feather), raw floats; gzipped, too.

    Values are as the libraries read them: pandas for text, astropy for FITS, h5py for HDF5, pyarrow for Parquet and
    Arrow. The format is recognized by the first bytes of a file, else by its name.

    Parameters
    ----------
    files : str, path or list of them
        The rows of several files are concatenated. All files have the same format.
    columns : str, int or list of them, optional
        Names, or numbers from 0 (negative from the end). The default is every column. One value of a vector column is
        "name[0]". For NPZ and HDF5 they may be one-dimensional arrays, as "/lon" and "/lat". The index of a DataFrame
        that was saved as Parquet or Feather is read only if `columns` names it.
    table : str or int, optional
        FITS: the number (from 1) or the name of the extension; the default is the first table. HDF5, NPZ: an array, or
        a group of arrays. If files are the parts of one simulation snapshot, some may have no particles of this type.
    dims : int, optional
        The number of coordinates per point. Raw files, whose names end in .raw, .bin, .f32 or .f64, require it, and
        other files do not take it.
    precision : {"float32", "float64"}, optional
        The type of the values in raw files that do not end in .f32 or .f64. The default is float64. Values are
        little-endian.
    **text
        Options of `pandas.read_csv`, for text. The defaults of `sep` and `header` are derived from the first row. It is
        a header if it has text and no number, and there are numbers below it; a row of missing values is not a header.
        `comment` (default "#") marks lines that are skipped, unless they begin with an error of a spreadsheet, as #N/A
        or #DIV/0!, which is a missing value. `skiprows` is a number of lines. `chunksize` and `iterator` are not
        supported.

    Returns
    -------
    pandas.DataFrame or ndarray of shape (n_samples, n_features)
        Points for `epsflow.sweep`: a DataFrame if columns have names and pandas is installed. float32 stays float32.
        Missing values are NaN; `epsflow.drop_missing` drops their rows. Units in FITS files are ignored;
        `astropy.table.Table.read` keeps them.

    Raises
    ------
    ImportError
        If a library is not installed. The error names it.
    OSError, ValueError
        If files do not exist (OSError) or are damaged, if columns do not exist, if the files differ in format or
        columns, or if a file can be read in several ways.

    Examples
    --------
    >>> X = epsflow.read_points("galaxies.fits", ["ra", "dec"])
    >>> result = epsflow.sweep(X, eps=0.5, min_samples=5, metric="greatcircle")
    """
    wanted = None if columns is None else _listed(columns)
    paths = [Path(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)]
    given = {
        name: value for name, value in {"table": table, "dims": dims, "precision": precision}.items()
        if value is not None
    }
    read = [_read_file(path, wanted, {**given, **text}) for path in paths]
    if not read:
        raise ValueError("files is empty: name at least one file")
    kinds, parts = [kind for kind, _ in read], [part for _, part in read]
    for path, kind in zip(paths, kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"{path} is {kind}, and {paths[0]} is {kinds[0]}: read the files of each kind by themselves"
            )
    if all(part is None for part in parts):
        asked = "" if table is None else f" in {table!r}"
        raise ValueError(
            f"{', '.join(map(str, paths[:4]))}: no particles{asked}, which other files of the snapshot have: "
            "name all of its files"
        )
    paths = [path for path, part in zip(paths, parts) if part is not None]
    parts = [part for part in parts if part is not None]
    names = [list(getattr(part, "columns", range(part.shape[1]))) for part in parts]
    for path, part, theirs in zip(paths, parts, names):
        if type(part) is not type(parts[0]) or len(theirs) != len(names[0]) or wanted is None and theirs != names[0]:
            raise ValueError(
                f"{path} has the columns {theirs[:40]}, and {paths[0]} has {names[0][:40]}: choose of them, columns=[…]"
            )
    if len(parts) == 1 or isinstance(parts[0], np.ndarray):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return import_module("pandas").concat([part.set_axis(names[0], axis=1) for part in parts], ignore_index=True)


def _read_file(path: Path, columns: list[Any] | None, options: dict[str, Any]) -> tuple[str, Any]:
    """Returns the format of a file, and its points as read_points() does. The points are None if the file is part of a
    snapshot and has no particles of this type.

    columns: names or numbers, or None for all. options: the given options of read_points(). Raises OSError if the file
    cannot be opened, ImportError, MemoryError; ValueError with the path for any other error.
    """
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    with open(path, "rb") as packed:
        try:
            file = gzip.open(packed) if packed.peek(2).startswith(b"\x1f\x8b") else packed
            begin = file.read(16)
            file.seek(0)
            otherwise = "raw floats" if ending in _RAW else "text"
            kind = next((known for magic, known in _MAGIC.items() if begin.startswith(magic)), otherwise)
            if kind == "raw floats":
                if "dims" not in options:
                    raise ValueError("raw floats do not tell how many columns they are: give dims=")
                options = {**options, "precision": _precision_of(ending, options.get("precision"))}
            elif raw := sorted({"dims", "precision"} & set(options)):
                raise ValueError(f"{raw[0]}= is of raw floats, whose names end in {', '.join(_RAW)}, and it is {kind}")
            return kind, _chosen(_READERS[kind](file, columns, **options), columns)
        except ImportError as error:
            library = str(error.name).partition(".")[0]
            raise ImportError(
                f"{path} takes {library}, which is not there: pip install {library}", name=library
            ) from error
        except Exception as error:  # each library has its own
            why = re.sub(r"^\S+\(\) ", "it is of a kind whose reader ", str(error))  # …: unexpected keyword
            raise (MemoryError if isinstance(error, MemoryError) else ValueError)(f"{path}: {why}") from error


def _precision_of(ending: str, asked: str | None) -> str:
    """Returns the type of the values of a raw file: the given one, else the type of its name, else float64. ending: of
    the name, in lower case. asked: the given type, or None. Raises ValueError if the given type is unknown or
    contradicts the name."""
    said = {".f32": "float32", ".f64": "float64"}.get(ending)
    if asked not in (None, "float32", "float64"):
        raise ValueError(f"precision={asked!r} is none of 'float32', 'float64'")
    if said and asked and asked != said:
        raise ValueError(
            f"precision={asked!r} is not what its name says, {ending}: leave precision= out, or name the file .raw"
        )
    return asked or said or "float64"


def _number_of(asked: Any, names: list[Any]) -> int:
    """Returns the number of a column, from 0. asked: its number, negative from the end, or its name, which may differ
    in case if no column has exactly this name. Raises ValueError if there is not exactly one such column."""
    if isinstance(asked, (int, np.integer)) and -len(names) <= asked < len(names):
        return int(asked) % len(names)
    found = [i for i, name in enumerate(names) if name == asked]
    if not found and isinstance(asked, str):
        found = [i for i, name in enumerate(names) if str(name).strip().lower() == asked.strip().lower()]
    if len(found) > 1:
        raise ValueError(
            f"the columns {' and '.join(map(str, found))} are both named {asked!r}: choose by number, "
            f"columns=[{found[0]}]"
        )
    if not found:
        raise ValueError(
            f"column {asked!r} is not there: columns= takes numbers below {len(names)}, and names of {names[:40]}"
        )
    return found[0]


def _numbers_of(names: list[Any], columns: list[Any] | None) -> list[int]:
    """Returns the positions of columns in `names`, from 0, in the order of `columns`; all if it is None. columns: names
    or numbers, as _number_of() takes them. Raises ValueError if one does not exist or is given twice."""
    if columns is None:
        return list(range(len(names)))
    numbers = [_number_of(asked, names) for asked in columns]
    for i, asked in enumerate(columns):
        if numbers[i] in numbers[:i]:
            raise ValueError(f"column {asked!r} is given twice")
    return numbers


def _chosen(found: Any, columns: list[Any] | None) -> Any:
    """Reads the chosen columns, or all if columns is None.

    found: an array [n, d], or a list of pairs of the name or number of a column and a function that reads it. Returns
    an array [n, columns], or a DataFrame if columns have names and pandas is installed; None if found is None. Raises
    ValueError if a column does not exist, is given twice or cannot be read, or if there is none.
    """
    if found is None:
        return None
    if isinstance(found, np.ndarray):
        return found if columns is None else found[:, _numbers_of(list(range(found.shape[1])), columns)]
    every = [name for name, _ in found]
    chosen = [found[i] for i in _numbers_of(every, columns)]
    if not chosen:
        raise ValueError("no column is read: name at least one")
    names = [name for name, _ in chosen]
    values = [read() for _, read in chosen]
    if util.find_spec("pandas") is not None and every != list(range(len(every))):
        # Columns are numbered first, because several columns may have the same name.
        return import_module("pandas").DataFrame(dict(enumerate(values))).set_axis(names, axis=1)
    return in_one([refuse_inexact(np.asarray(column), name) for name, column in zip(names, values)], len(values[0]))


def _of_array(array: Any) -> Any:
    """Returns the array as [n, d]; one dimension becomes one column. An array of records becomes pairs (column name,
    function that reads it); vector fields become several columns. Raises ValueError for more than two dimensions."""
    if array.dtype.names:
        return _of_fields({name: array[name] for name in array.dtype.names})
    if array.ndim not in (1, 2):
        raise ValueError(f"points are rows of coordinates, and its array has the shape {array.shape}")
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _of_fields(fields: dict[str, Any]) -> Any:
    """Returns pairs (column name, function that reads it) for _chosen(). fields: arrays by their names, of n rows. Each
    element of a row becomes a column name[k] if a field has more than one dimension."""
    pairs: list[tuple[str, Any]] = []
    for name, field in fields.items():
        part = field.reshape(len(field), math.prod(field.shape[1:]))
        shown = [f"{name}[{k}]" for k in range(part.shape[1])] if field.ndim > 1 else [name]
        pairs += [(column, partial(_plain, part[:, k], column)) for k, column in enumerate(shown)]
    return pairs


def _plain(values: Any, name: str) -> NDArray[Any]:
    """Returns values in native byte order, with masked numbers as NaN; integers become float64 if one is masked. name:
    the column in errors. Raises ValueError if one of these integers is beyond 2**53."""
    mask, array = getattr(values, "mask", False), np.asarray(values)
    if np.any(mask) and array.dtype.kind in "iub":
        array = refuse_inexact(np.where(mask, 0, array), name).astype(np.float64)
    if np.any(mask) and array.dtype.kind == "f":
        array = array.copy()
        array[mask] = np.nan
    return np.asarray(array, array.dtype.newbyteorder("="))


def _of_arrays(arrays: Mapping[str, Any], columns: Any, table: str, read: Callable[[Any], NDArray[Any]]) -> Any:
    """Returns the points of a file of named arrays, as _chosen() takes them.

    If each name in `columns` is an array, these arrays are the columns. Otherwise the points are the array `table`, or
    the only array of numbers of one or two dimensions, or of records, in the group `table`; "" is the whole file.
    arrays: objects with ndim and dtype, by their names. read: returns the values of such an object. Raises ValueError
    if several arrays can be the points, or none.
    """
    table = str(table).strip("/")
    inside = {
        name[len(table) :].strip("/"): arrays[name]
        for name in arrays if not table or f"{name}/".startswith(f"{table}/")
    }
    if columns and all(str(column).strip("/") in inside for column in columns):
        return [
            (column, partial(_plain, read(inside[str(column).strip("/")]), column)) for column in dict.fromkeys(columns)
        ]
    suitable = [
        a for a in inside.values()
        if len(inside) == 1 or not a.dtype.hasobject and (a.dtype.names or a.ndim in (1, 2) and a.dtype.kind in "fiub")
    ]
    if len(suitable) != 1:
        absent = [table] if table and not inside else [
            column for column in columns or [] if str(column).strip("/") not in inside
        ]
        asked = f"; there is no {absent[0]!r}" if absent else ""
        raise ValueError(
            f"say which array the points are, table=, or columns= of one axis each, of {list(arrays)[:40]}{asked}"
        )
    return _of_array(read(suitable[0]))


class _Head(NamedTuple):
    """The header of an array in an NPZ file."""

    name: str
    """Without .npy."""
    ndim: int
    dtype: np.dtype[Any]
    """object if the array cannot be read."""


def _read_npz(file: Any, columns: Any, table: str = "") -> Any:
    """Returns the points of an NPZ file in the form of the parameter `found` of _chosen(). Reads the headers of all
    arrays, and the values of the chosen ones. columns, table: names that choose arrays, as in _of_arrays(). Raises
    ValueError if several arrays can be the points, or none."""
    formats = np.lib.format
    with np.load(file) as archive:
        heads: dict[str, _Head] = {}
        for name in (member[:-4] for member in archive.zip.namelist() if member.endswith(".npy")):
            try:
                with archive.zip.open(f"{name}.npy") as opened:
                    is_first = formats.read_magic(opened) == (1, 0)
                    shape, _, dtype = (
                        formats.read_array_header_1_0 if is_first else formats.read_array_header_2_0
                    )(opened)
            except Exception:  # an unreadable array is an error only if it is chosen
                shape, dtype = (), np.dtype(object)
            heads[name] = _Head(name, len(shape), dtype)
        return _of_arrays(heads, columns, table, lambda head: np.asarray(archive[head.name]))


def _of_dataset(dataset: Any) -> NDArray[Any]:
    """Returns the values of a data set of h5py. Raises ValueError if they are packed by the rules of netCDF, with
    attributes such as scale_factor or _FillValue, or by a filter that HDF5 lacks; OSError if they cannot be read for
    another reason."""
    if packed := {"_FillValue", "missing_value", "scale_factor", "add_offset"} & set(dataset.attrs):
        raise ValueError(
            f"{dataset.name} is of netCDF, with {min(packed)}: give epsflow.sweep what xarray.open_dataset reads"
        )
    try:
        values = np.asarray(dataset[()])
    except OSError:
        _refuse_filters(dataset)
        raise
    # The attribute _Unsigned of netCDF: "true" if signed integers are stored and unsigned ones are meant, "false" for
    # the reverse.
    for word in np.asarray(dataset.attrs.get("_Unsigned", ())).reshape(-1)[:1]:
        text = word.decode(errors="replace") if isinstance(word, bytes) else str(word)
        stored, meant = {"true": ("i", "u"), "false": ("u", "i")}.get(text.strip().lower(), ("", ""))
        if values.dtype.kind == stored:
            values = values.view(values.dtype.str.replace(stored, meant))
    return values


def _refuse_filters(dataset: Any) -> None:
    """Raises ValueError if HDF5 lacks the filter of the values. HDF5's own error only mentions a missing folder."""
    filters, packed = import_module("h5py").h5z, dataset.id.get_create_plist()
    for code, _, _, name in map(packed.get_filter, range(packed.get_nfilters())):
        if not filters.filter_avail(code):
            shown = f"{name.decode(errors='replace')}, number {code}".lstrip(", ")
            raise ValueError(
                f"{dataset.name} is packed by the filter {shown}, which this HDF5 lacks: import hdf5plugin first (pip "
                "install hdf5plugin), or unpack the file with h5repack -f NONE where the filter is there"
            )


def _read_hdf5(file: Any, columns: Any, table: str = "") -> Any:
    """Returns the points of an HDF5 file, as _chosen() takes them, or None if _lacks_particles(). columns, table: the
    arrays that are the points (_of_arrays()). Raises ValueError."""
    h5py = import_module("h5py")
    arrays: dict[str, Any] = {}

    def add(folder: str, path: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            arrays[f"{folder}/{path}".strip("/")] = found

    with h5py.File(file, "r") as opened:
        if _lacks_particles(opened, [f"{table}/{column}" for column in columns or [""]]):
            return None
        # visititems visits each array once, with one of its names. table and columns may be links with other names.
        for name in ("", str(table).strip("/")):
            found = opened.get(name or "/")
            if isinstance(found, h5py.Group):
                found.visititems(partial(add, name))
            else:
                add("", name, found)
        for column in columns or []:
            name = f"{table}/{column}".strip("/")
            add("", name, opened.get(name or "/"))
        return _of_arrays(arrays, columns, table, _of_dataset)


_SWIFT_TYPES = ("Gas", "DM", "DMBackground", "Sink", "Stars", "BH", "Neutrino")
"""SWIFT's other names of the particle types, in the order of their numbers."""


def _lacks_particles(opened: Any, asked: list[str]) -> bool:
    """Returns whether a file of a snapshot lacks particles of a type that other files of the snapshot have, by the
    numbers of particles in its header. opened: the file. asked: paths of the arrays of this type."""
    known = {
        name: number for number, swift in enumerate(_SWIFT_TYPES) for name in (f"PartType{number}", f"{swift}Particles")
    }
    groups = {path.strip("/").partition("/")[0] for path in asked}
    header = opened["Header"].attrs if "Header" in opened else {}
    if not groups <= set(known) or "NumPart_ThisFile" not in header or all(path.strip("/") in opened for path in asked):
        return False

    def count(name: str, group: str) -> int:
        counts = np.asarray(header.get(f"NumPart_{name}", ())).reshape(-1)
        return int(counts[known[group]]) if known[group] < len(counts) else 0

    return all(
        count("ThisFile", group) == 0 and count("Total", group) + count("Total_HighWord", group) > 0 for group in groups
    )


def _read_fits(file: Any, columns: Any, table: str | int | None = None) -> Any:
    """Returns pairs for _chosen(): the columns of a table. table: its number or name, or None for the first. Raises
    ValueError if the file lacks it."""
    fits = import_module("astropy.io.fits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about units, and about bytes after the table
        with fits.open(file, memmap=False) as opened:
            there = {i: part for i, part in enumerate(opened) if isinstance(part, (fits.BinTableHDU, fits.TableHDU))}
            wanted = None if table is None else str(table).strip().lower()
            for i, part in there.items():
                if wanted is not None and wanted not in (str(i), part.name.lower()):
                    continue
                if isinstance(part, fits.TableHDU):
                    nulls = [part.header.get(f"TNULL{k + 1}") for k in range(len(part.columns))]
                    return [
                        (column.name, partial(_of_texts, part.data, column, null))
                        for column, null in zip(part.columns, nulls)
                    ]
                return _of_fields({column.name: _with_nulls(part.data, column) for column in part.columns})
    shown = ", ".join(f"{i} ({part.name})" if part.name else str(i) for i, part in there.items())
    raise ValueError(
        f"there is no table {table!r}: table= may choose of {shown}" if there
        else "it has no table, of which points are read"
    )


def _with_nulls(data: Any, column: Any) -> Any:
    """Returns a column of a binary table, masked at TNULL. TNULL is a stored value, before scaling."""
    values, stored = data[column.name], data.view(np.ndarray)[column.name]
    if column.null is None or stored.dtype.kind not in "iu" or stored.shape != values.shape:
        return values
    return np.ma.MaskedArray(values, stored == column.null)


def _of_texts(data: Any, column: Any, null: Any) -> NDArray[Any]:
    """Returns a column of an ASCII table, with NaN for missing numbers. A number is missing if its field without blanks
    equals null: TNULL of the header, or None. data: the rows; missing fields are overwritten there."""
    stored = data.view(np.ndarray)[column.name]
    missing = np.zeros(len(stored), np.bool_)
    if null is not None and not str(column.format).startswith("A"):
        missing = np.char.strip(stored) == str(null).strip()[: stored.dtype.itemsize].encode()
        stored[missing] = b"0"  # null need not be a number
    return _plain(np.ma.MaskedArray(data[column.name], missing), column.name)


def _read_parquet(file: Any, columns: Any) -> Any:
    opened = import_module("pyarrow.parquet").ParquetFile(file)
    schema = opened.schema_arrow

    def read(i: int) -> Any:
        # The result includes columns of the same name, and more columns if the name has dots.
        found = opened.read([schema.names[i]])
        same = [k for k, name in enumerate(found.schema.names) if name == schema.names[i]]
        return found.column(same[schema.names[:i].count(schema.names[i])])

    return _of_table(schema, columns, read)


def _read_arrow(file: Any, columns: Any) -> Any:
    table = import_module("pyarrow.feather").read_table(file, memory_map=False)
    return _of_table(table.schema, columns, table.column)


def _of_table(schema: Any, columns: Any, read: Callable[[int], Any]) -> list[tuple[str, Any]]:
    """Returns pairs for _chosen(): the name of a column, and a function that reads it or raises why it cannot.

    Columns of lists of numbers give the columns name[0], name[1] and so on. To find their number, the lists are read at
    once, but only if columns is None, has a number of a column, or has a name that begins with "name[". Lists that are
    not read, are not of numbers, or are refused by _of_lists() remain one column, whose function raises.
    """
    types = import_module("pyarrow.types")
    pairs: list[tuple[str, Any]] = []
    for i in _without_index(schema, columns):
        name, kind = schema.names[i], schema.types[i]
        begin = f"{name.strip()}[".lower()
        if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
            pairs.append((name, partial(lambda i: _of_arrow(read(i)), i)))
        elif not (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)):
            pairs.append(
                (name, partial(_refuse, f"column {name!r} has lists of {kind.value_type}, which are no numbers"))
            )
        elif columns is None or any(
            not isinstance(column, str) or column.strip().lower().startswith(begin) for column in columns
        ):
            try:
                pairs += _of_fields({name: _of_lists(read(i), name)})
            except ValueError as error:
                pairs.append((name, partial(_refuse, str(error))))
        else:
            pairs.append((name, partial(_refuse, f"column {name!r} has lists of numbers: name these, as {name}[0]")))
    return pairs


def _refuse(why: str) -> Any:
    raise ValueError(why)


def _of_lists(column: Any, name: str) -> NDArray[Any]:
    """Returns an Arrow column of lists of numbers as an array [rows, length]. A missing list becomes a row of NaN, and
    a missing number NaN; integers become float64 then. Raises ValueError if lists differ in length, if all lists are
    missing, or if integers that become float64 are beyond 2**53. name: the column in errors."""
    lists, kind = column.combine_chunks(), column.type
    fixed = getattr(kind, "list_size", None)
    lengths = lists.value_lengths().drop_null().unique().to_pylist() if fixed is None else [fixed]
    if len(lengths) > 1:
        raise ValueError(
            f"column {name!r} has lists of {lengths[0]} and of {lengths[1]} values: write lists of one length"
        )
    if not lengths and len(lists) > 0:
        raise ValueError(f"column {name!r} has no list, as all of its rows are missing: leave it out")
    length, flat = lengths[0] if lengths else 0, lists.flatten()
    is_whole = import_module("pyarrow.types").is_integer(kind.value_type)
    values = np.asarray((flat.fill_null(0) if is_whole else flat).to_numpy(False))  # nulls among floats are NaN
    if not lists.null_count and not (is_whole and flat.null_count):
        return values.reshape(len(lists), length)
    rows = np.full((len(lists), length), np.nan, np.float64 if is_whole else values.dtype)
    numbers = np.where(flat.is_null().to_numpy(False), np.nan, refuse_inexact(values, name)) if is_whole else values
    rows[lists.is_valid().to_numpy(False)] = numbers.reshape(len(lists) - lists.null_count, length)
    return rows


def _without_index(schema: Any, columns: Any) -> list[int]:
    """Returns the numbers of the columns of an Arrow schema: of all columns that are not in a pandas index, then of the
    columns of the index that `columns` names."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    asked = [str(column).strip().lower() for column in columns or []]
    named = [i for i, name in enumerate(schema.names) if name in index and name.strip().lower() in asked]
    return [i for i, name in enumerate(schema.names) if name not in index] + named


def _of_arrow(column: Any) -> Any:
    """Returns an Arrow column as an array, with NaN for nulls. A column of integers with nulls becomes an array of
    objects: integers of Python, which are exact, and None."""
    if column.null_count and "int" in str(column.type):
        return np.array(column.to_pylist(), object)
    return column.to_numpy()


def _read_raw(file: Any, columns: Any, dims: int, precision: str) -> Any:
    """Returns little-endian numbers as an array [n, dims]. Raises ValueError if the file has an incomplete row."""
    return np.frombuffer(file.read(), np.dtype(precision).newbyteorder("<")).reshape(-1, dims)


def _read_text(file: Any, columns: Any, **options: Any) -> Any:
    """Returns pairs for _chosen(): the columns of a text. options: of read_points(). Raises ValueError if an option is
    invalid or if it is not clear whether the first row has names; errors of pandas, as for a row that is too long."""
    pandas = import_module("pandas")
    if parts := [name for name in ("chunksize", "iterator") if options.get(name)]:
        raise ValueError(f"{parts[0]}= reads a file in parts, and its points are read at once: use pandas.read_csv")
    mark = options.pop("comment", "#") or "\0"
    skipped = options.pop("skiprows", None) or 0
    if not isinstance(skipped, (int, np.integer)) or skipped < 0:
        raise ValueError(f"skiprows={skipped!r} is no number of lines: give a whole number, or use pandas.read_csv")
    text = file.read()
    text = b"\n".join(text[3 * text.startswith(b"\xef\xbb\xbf") :].split(b"\n", skipped)[skipped:])
    begin = re.match(
        rb"(?:%b)*((?:(?<![^\t;,| \n])\"[^\"]*\"|[^\n])*)" % _skipped_line(r"[\t;,| ]", r" \t", mark), text
    )
    first = begin[1][: 1 << 16].decode(errors="replace").strip() if begin else ""
    separators = [sep for sep in "\t;,|" if sep in first and sep != options.get("decimal")]
    sep = options.pop("delimiter", None) or options.pop("sep", None) or next(iter(separators), r"\s+")
    if b"\0" in text[:4096]:
        raise ValueError(
            f"it begins with {first[:40]!r}, and is of no known kind: raw floats take dims= and a name that ends in "
            f"{', '.join(_RAW)}"
        )
    options = {"skipinitialspace": True, "index_col": False, "low_memory": False, **options}
    if options.get("keep_default_na", True) and not isinstance(options.get("na_values"), dict):
        options["na_values"] = [*_GAPS, *_listed(options.get("na_values"))]
    text = _rows_alone(
        text, sep, mark, None if options.get("quoting") == csv.QUOTE_NONE else options.get("quotechar", '"')
    )
    if int(pandas.__version__.partition(".")[0]) < 4:  # pandas 4 has this default
        options = {"float_precision": "round_trip", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about float_precision
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # raised for rows that are longer than the first
        if "header" not in options:
            options["header"] = (
                None if "names" in options or not _begins_with_names(_texts_of(text, sep, options, 102), options, first)
                else 0
            )
        frame = pandas.read_csv(io.BytesIO(text), sep=sep, **options)
        names = _names_of_text(text, sep, options, list(frame))
    return [(name, partial(_numbers_of_texts, frame.iloc[:, i], name, options)) for i, name in enumerate(names)]


_ERRORS = (
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#N/A N/A", "#SPILL!", "#CALC!", "#FIELD!",
      "#BLOCKED!"),
    *("#CONNECT!", "#BUSY!", "#ERROR!", "#UNKNOWN!", "#GETTING_DATA", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!",
      "#NOM?", "#NOMBRE!"),
    *("#NUL!", "#N/D", "#VALORE!", "#RIF!", "#NOME?", "#VALOR!", "#¡VALOR!", "#¡DIV/0!", "#¡NUM!", "#¡REF!",
      "#¿NOMBRE?", "#¡NULO!"),
)
"""Errors of formulas in spreadsheets. io/read/text/text_fields.cpp has the same list for the program."""
_GAPS = ["-", "--", "---", "?", *_ERRORS]
"""Missing values, in addition to pandas' own."""
_PANDAS_GAPS = ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None")
_NUMBER = re.compile(r"[-+]?(?:(?:\d+[.,]?\d*|[.,]\d+)(?:[eEdD][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)


def _skipped_line(sep: str, blanks: str, mark: str) -> bytes:
    """Returns the pattern of a line that is not a row: blank, or a comment, which begins with `mark`. A line that
    begins with #N/A or a whole error of a spreadsheet is a row. sep: a pattern of the separator. blanks: the blanks
    that may precede the mark."""
    errors = "|".join(map(re.escape, _ERRORS))
    return (
        rf"[{blanks}]*(?:(?!#N/A|(?:{errors})(?:[ \t,;|\r\n]|{sep}|\Z)){re.escape(mark)}[^\n]*|\r?)(?:\n|\Z)".encode()
    )


def _rows_alone(text: bytes, sep: str, mark: str, quote: str | None) -> bytes:
    """Returns the text without blank lines and comments, which are whole lines outside quotes. sep: the separator.
    mark: the begin of a comment. quote: the quotation mark, or None if texts are not quoted."""
    blanks, ends = " " if sep == "\t" else r" \t", re.escape(sep) if len(sep) == 1 else sep
    skipped = b"(?m)^" + _skipped_line(ends, blanks, mark)
    # For other separator patterns pandas does not support quotes.
    if not quote or quote.encode() not in text or len(sep) > 1 and sep != r"\s+":
        return re.sub(skipped, b"", text)
    before, q = ends if len(sep) == 1 else r"[ \t]", re.escape(quote)
    quoted = rf"(?:^|(?<={before}))[{blanks}]*{q}[^{q}]*(?:{q}{q}[^{q}]*)*{q}".encode()
    return re.sub(skipped + b"|(?P<quoted>" + quoted + b")", lambda found: found["quoted"] or b"", text)


def _texts_of(text: bytes, sep: str, options: dict[str, Any], most: int, skipped: int = 0) -> list[list[str]]:
    """Returns the fields of at most `most` rows, after `skipped` lines, as texts: a list for each row."""
    alike = (
        "skipinitialspace", "quotechar", "quoting", "doublequote", "escapechar", "encoding", "encoding_errors",
        "engine", "on_bad_lines",
    )
    form = {name: options[name] for name in alike if name in options}
    first = {"header": None, "skiprows": skipped, "nrows": most, "dtype": str, "na_filter": False}
    found: list[list[str]] = (
        import_module("pandas").read_csv(io.BytesIO(text), sep=sep, **first, **form).to_numpy().tolist()
    )
    return found


def _begins_with_names(rows: list[list[str]], options: dict[str, Any], first: str) -> bool:
    """Returns whether the first row has names of columns: text and no number, with a number below a text, or no other
    row. rows: the fields of the first rows. first: the first row as it is in the file, for errors. Raises ValueError if
    it may be a row of values as well."""

    def kind(field: Any) -> str:
        field = str(field).strip()
        return "gap" if field in _gaps_of(options) else "number" if _NUMBER.fullmatch(field) else "text"

    kinds = [kind(field) for field in rows[0]]
    numbers = rows[0][1:] if rows[0][0] == "" else rows[0]
    if len(rows[0]) > 1 and numbers == [str(i) for i in range(len(numbers))]:
        raise ValueError(f"it begins with {first[:40]!r}, numbers or names of columns: say header=None or header=0")
    if "number" in kinds or "text" not in kinds:
        return False
    if len(rows) == 1 or any(
        kinds[k] == "text" and kind(row[k]) == "number" for row in rows[1:] for k in range(len(kinds))
    ):
        return True
    raise ValueError(
        f"it begins with {first[:40]!r}, names of columns or a row without a number, as none is below its texts: "
        "say header=0 or header=None"
    )


def _gaps_of(options: dict[str, Any]) -> set[str]:
    """Returns the texts that na_values and keep_default_na make missing values. A dict as na_values is ignored."""
    given = options.get("na_values")
    own = [] if isinstance(given, dict) else _listed(given)
    return {*(_PANDAS_GAPS if options.get("keep_default_na", True) else ()), *own}


def _listed(given: Any) -> list[Any]:
    """Returns the values as a list: none for None, one for a text or number."""
    if given is None:
        return []
    return list(given) if np.iterable(given) and not isinstance(given, str) else [given]


def _numbers_of_texts(values: Any, name: Any, options: dict[str, Any]) -> Any:
    """Returns a column of pandas as numbers with NaN if it has texts that are numbers (also Fortran's 1.5D+02) or
    missing; any other column unchanged. Raises ValueError for an integer beyond 2**53."""
    if values.dtype.kind not in "OTU" or {"dtype", "converters"} & set(options):
        return values
    gaps, numbers = _gaps_of(options), np.full(len(values), np.nan)
    for i, (value, is_gap) in enumerate(zip(values, values.isna())):
        text = value.strip() if isinstance(value, str) else "no text"
        if is_gap or text in gaps:
            continue
        if not _NUMBER.fullmatch(text):
            return values
        refuse_beyond(text, name)
        numbers[i] = float(text.replace(options.get("decimal", "."), ".").lower().replace("d", "e"))
    return numbers


def _names_of_text(text: bytes, sep: str, options: dict[str, Any], names: list[Any]) -> list[Any]:
    """Returns the names of columns as the file has them. pandas renames the second of two columns x to x.1. `names`,
    pandas' own, are returned if options have names or usecols, or if no header row has as many names."""
    if type(options["header"]) is not int or {"names", "usecols"} & set(options):
        return names
    row = _texts_of(text, sep, options, 1, options["header"])[0]
    return [own or name for own, name in zip(row, names)] if len(row) == len(names) else names


_RAW = (".raw", ".bin", ".f32", ".f64")

_MAGIC = {
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": "NPZ",
    b"SIMPLE  =": "FITS",
    b"\x89HDF\r\n\x1a\n": "HDF5",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"FEA1": "Arrow",
}
"""The first bytes of each format."""

_READERS: dict[str, Any] = {
    "NPY": lambda file, columns: _of_array(np.load(file)),
    "NPZ": _read_npz,
    "FITS": _read_fits,
    "HDF5": _read_hdf5,
    "Parquet": _read_parquet,
    "Arrow": _read_arrow,
    "raw floats": _read_raw,
    "text": _read_text,
}
