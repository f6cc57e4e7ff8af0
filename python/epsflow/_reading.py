"""Points from files of the kinds that the program reads, by the libraries that people have for them."""

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

    Their values are as the libraries read them: of text pandas, of FITS astropy, of HDF5 h5py, of Parquet and Arrow pyarrow. The first
    bytes of a file say what it is, else its name.

    Parameters
    ----------
    files : str, path or list of them
        The rows of several files of one kind follow each other.
    columns : str, int or list of them, optional
        Names, or numbers from 0, from the end where negative; every column where they are left out. One value of a column of vectors
        is "name[0]". Of NPZ and HDF5 they may be arrays of one axis, as "/lon" and "/lat". The index of a DataFrame that was saved as
        Parquet or Feather is read only where it is named.
    table : str or int, optional
        FITS: number of the extension, from 1, or its name, the first table where it is left out. HDF5, NPZ: the array, or a group of
        arrays. Of several files of a snapshot of a simulation some may have no particles of the type.
    dims : int, optional
        Of raw files, which are named .raw, .bin, .f32 or .f64: the coordinates per point.
    precision : {"float32", "float64"}, optional
        Of raw files, where .f32 or .f64 does not say it; float64 where it is left out.
    **text
        Of text, as `pandas.read_csv` takes them. Left out, `sep` and `header` are found out from the first row. It has the names of
        columns if it has text and no number, and numbers follow below; a row of missing values is no header. `comment`, "#" where it is
        left out, is what lines begin with that are skipped, unless they begin with the error of a spreadsheet, as #N/A or #DIV/0!, which
        is a missing value. `skiprows` is a number of lines, and `chunksize` and `iterator` are not taken.

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
    kinds, parts = [], []
    for path in paths:
        kind, part = _read_file(path, wanted, {**given, **text})
        kinds.append(kind)
        parts.append(part)
    if not parts:
        raise ValueError("files is empty: name at least one file")
    for path, kind in zip(paths, kinds):
        if kind != kinds[0]:
            raise ValueError(f"{path} is {kind}, and {paths[0]} is {kinds[0]}: read the files of each kind by themselves")
    if all(part is None for part in parts):
        asked = "" if table is None else f" in {table!r}"
        raise ValueError(f"{', '.join(map(str, paths[:4]))}: no particles{asked}, which other files of the snapshot have: name all of its files")
    paths = [path for path, part in zip(paths, parts) if part is not None]
    parts = [part for part in parts if part is not None]
    names = [list(getattr(part, "columns", range(part.shape[1]))) for part in parts]
    for path, part, theirs in zip(paths, parts, names):
        if type(part) is not type(parts[0]) or len(theirs) != len(names[0]) or wanted is None and theirs != names[0]:
            raise ValueError(f"{path} has the columns {theirs[:40]}, and {paths[0]} has {names[0][:40]}: choose of them, columns=[…]")
    if len(parts) == 1 or isinstance(parts[0], np.ndarray):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return import_module("pandas").concat([part.set_axis(names[0], axis=1) for part in parts], ignore_index=True)


def _read_file(path: Path, columns: list[Any] | None, options: dict[str, Any]) -> tuple[str, Any]:
    """What kind of file it is, and its points; None for a file of a snapshot without particles of the type."""
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    with open(path, "rb") as packed:
        try:
            file = gzip.open(packed) if packed.peek(2).startswith(b"\x1f\x8b") else packed
            begin = file.read(16)
            file.seek(0)
            otherwise = "raw floats" if ending in _RAW else "text"
            kind = next((known for magic, known in _MAGIC.items() if begin.startswith(magic)), otherwise)
            if kind == "raw floats":
                options = {**options, "precision": _precision_of(ending, options.get("precision"))}
            elif raw := sorted({"dims", "precision"} & set(options)):
                raise ValueError(f"{raw[0]}= is of raw floats, whose names end in {', '.join(_RAW)}, and it is {kind}")
            return kind, _chosen(_READERS[kind](file, columns, **options), columns)
        except ImportError as error:
            library = str(error.name).partition(".")[0]
            raise ImportError(f"{path} takes {library}, which is not there: pip install {library}", name=library) from error
        except Exception as error:  # each library has its own
            why = re.sub(r"^\S+\(\) ", "it is of a kind whose reader ", str(error))  # got an unexpected keyword argument
            raise (MemoryError if isinstance(error, MemoryError) else ValueError)(f"{path}: {why}") from error


def _precision_of(ending: str, asked: str | None) -> str:
    said = {".f32": "float32", ".f64": "float64"}.get(ending)
    if asked not in (None, "float32", "float64"):
        raise ValueError(f"precision={asked!r} is none of 'float32', 'float64'")
    if said and asked and asked != said:
        raise ValueError(f"precision={asked!r} is not what its name says, {ending}: leave precision= out, or name the file .raw")
    return asked or said or "float64"


def _number_of(asked: Any, names: list[Any]) -> int:
    """Of the column with this number or name; names that differ in case alone are one where no column has the very name."""
    if isinstance(asked, (int, np.integer)) and -len(names) <= asked < len(names):
        return int(asked) % len(names)
    found = [i for i, name in enumerate(names) if name == asked]
    if not found and isinstance(asked, str):
        found = [i for i, name in enumerate(names) if str(name).strip().lower() == asked.strip().lower()]
    if len(found) > 1:
        raise ValueError(f"the columns {' and '.join(map(str, found))} are both named {asked!r}: choose by number, columns=[{found[0]}]")
    if not found:
        raise ValueError(f"column {asked!r} is not there: columns= takes numbers below {len(names)}, and names of {names[:40]}")
    return found[0]


def _numbers_of(names: list[Any], columns: list[Any] | None) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    numbers = [_number_of(asked, names) for asked in columns]
    for i, asked in enumerate(columns):
        if numbers[i] in numbers[:i]:
            raise ValueError(f"column {asked!r} is given twice")
    return numbers


def _chosen(found: Any, columns: list[Any] | None) -> Any:
    """Of an array [n, d], or of pairs: the name of a column, or its number where it has none, and a function that gives it; of None it."""
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
        # By numbers first: several columns may have one name.
        return import_module("pandas").DataFrame(dict(enumerate(values))).set_axis(names, axis=1)
    return in_one([refuse_inexact(np.asarray(column), name) for name, column in zip(names, values)], len(values[0]))


def _of_array(array: Any) -> Any:
    """Of an array, or of the fields of its records."""
    if array.dtype.names:
        return _of_fields({name: array[name] for name in array.dtype.names})
    if array.ndim not in (1, 2):
        raise ValueError(f"points are rows of coordinates, and its array has the shape {array.shape}")
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _of_fields(fields: dict[str, Any]) -> Any:
    """Each number of a vector is a column."""
    pairs: list[tuple[str, Any]] = []
    for name, field in fields.items():
        part = field.reshape(len(field), math.prod(field.shape[1:]))
        shown = [f"{name}[{k}]" for k in range(part.shape[1])] if field.ndim > 1 else [name]
        pairs += [(column, partial(_plain, part[:, k], column)) for k, column in enumerate(shown)]
    return pairs


def _plain(values: Any, name: str) -> NDArray[Any]:
    """In native byte order; numbers that are masked are NaN."""
    mask, array = getattr(values, "mask", False), np.asarray(values)
    if np.any(mask) and array.dtype.kind in "iub":
        array = refuse_inexact(np.where(mask, 0, array), name).astype(np.float64)
    if np.any(mask) and array.dtype.kind == "f":
        array = array.copy()
        array[mask] = np.nan
    return np.asarray(array, array.dtype.newbyteorder("="))


def _of_arrays(arrays: Mapping[str, Any], columns: Any, table: str, read: Callable[[Any], NDArray[Any]]) -> Any:
    """Of the array that is named, of those that columns name, or of the only one that can be points."""
    table = str(table).strip("/")
    inside = {name[len(table) :].strip("/"): arrays[name] for name in arrays if not table or f"{name}/".startswith(f"{table}/")}
    if columns and all(str(column).strip("/") in inside for column in columns):
        return [(column, partial(_plain, read(inside[str(column).strip("/")]), column)) for column in dict.fromkeys(columns)]
    suitable = [a for a in inside.values() if len(inside) == 1 or not a.dtype.hasobject and (a.dtype.names or a.ndim in (1, 2) and a.dtype.kind in "fiub")]
    if len(suitable) != 1:
        absent = [table] if table and not inside else [column for column in columns or [] if str(column).strip("/") not in inside]
        asked = f"; there is no {absent[0]!r}" if absent else ""
        raise ValueError(f"say which array the points are, table=, or columns= of one axis each, of {list(arrays)[:40]}{asked}")
    return _of_array(read(suitable[0]))


class _Head(NamedTuple):
    """What an array of an NPZ says of itself before its values."""

    name: str
    ndim: int
    dtype: np.dtype[Any]


def _read_npz(file: Any, columns: Any, table: str = "") -> Any:
    """Nothing is read but the heads of arrays, and the arrays that are chosen."""
    formats = np.lib.format
    with np.load(file) as archive:
        heads: dict[str, _Head] = {}
        for name in (member[:-4] for member in archive.zip.namelist() if member.endswith(".npy")):
            try:
                with archive.zip.open(f"{name}.npy") as opened:
                    is_first = formats.read_magic(opened) == (1, 0)
                    shape, _, dtype = (formats.read_array_header_1_0 if is_first else formats.read_array_header_2_0)(opened)
            except Exception:  # what cannot be read is an error where it is asked for
                shape, dtype = (), np.dtype(object)
            heads[name] = _Head(name, len(shape), dtype)
        return _of_arrays(heads, columns, table, lambda head: np.asarray(archive[head.name]))


def _of_dataset(dataset: Any) -> NDArray[Any]:
    if packed := {"_FillValue", "missing_value", "scale_factor", "add_offset"} & set(dataset.attrs):
        raise ValueError(f"{dataset.name} is of netCDF, with {min(packed)}: give epsflow.sweep what xarray.open_dataset reads")
    try:
        values = np.asarray(dataset[()])
    except OSError:
        _refuse_filters(dataset)
        raise
    for word in np.asarray(dataset.attrs.get("_Unsigned", ())).reshape(-1)[:1]:  # by which netCDF stores integers as those of the other kind
        text = word.decode(errors="replace") if isinstance(word, bytes) else str(word)
        stored, meant = {"true": ("i", "u"), "false": ("u", "i")}.get(text.strip().lower(), ("", ""))
        if values.dtype.kind == stored:
            values = values.view(values.dtype.str.replace(stored, meant))
    return values


def _refuse_filters(dataset: Any) -> None:
    """Raises ValueError where HDF5 lacks one by which the values are packed, of which it says that a folder is missing."""
    filters, packed = import_module("h5py").h5z, dataset.id.get_create_plist()
    for code, _, _, name in map(packed.get_filter, range(packed.get_nfilters())):
        if not filters.filter_avail(code):
            shown = f"{name.decode(errors='replace')}, number {code}".lstrip(", ")
            raise ValueError(
                f"{dataset.name} is packed by the filter {shown}, which this HDF5 lacks: import hdf5plugin first (pip install hdf5plugin), "
                "or unpack the file with h5repack -f NONE where the filter is there"
            )


def _read_hdf5(file: Any, columns: Any, table: str = "") -> Any:
    h5py = import_module("h5py")
    arrays: dict[str, Any] = {}

    def add(folder: str, path: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            arrays[f"{folder}/{path}".strip("/")] = found

    with h5py.File(file, "r") as opened:
        if _lacks_particles(opened, [f"{table}/{column}" for column in columns or [""]]):
            return None
        # visititems goes to each array once, by one of its names; table and columns may be others, which are links.
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
"""SWIFT's other names of the types of particles, by their numbers."""


def _lacks_particles(opened: Any, asked: list[str]) -> bool:
    """Whether a file is one of a snapshot, and others of it have the particles that are asked for; asked: paths of arrays."""
    known = {name: number for number, swift in enumerate(_SWIFT_TYPES) for name in (f"PartType{number}", f"{swift}Particles")}
    groups = {path.strip("/").partition("/")[0] for path in asked}
    header = opened["Header"].attrs if "Header" in opened else {}
    if not groups <= set(known) or "NumPart_ThisFile" not in header or all(path.strip("/") in opened for path in asked):
        return False

    def count(name: str, group: str) -> int:
        counts = np.asarray(header.get(f"NumPart_{name}", ())).reshape(-1)
        return int(counts[known[group]]) if known[group] < len(counts) else 0

    return all(count("ThisFile", group) == 0 and count("Total", group) + count("Total_HighWord", group) > 0 for group in groups)


def _read_fits(file: Any, columns: Any, table: str | int | None = None) -> Any:
    fits = import_module("astropy.io.fits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of units, and of what is behind the table
        with fits.open(file, memmap=False) as opened:
            there = {i: part for i, part in enumerate(opened) if isinstance(part, (fits.BinTableHDU, fits.TableHDU))}
            wanted = None if table is None else str(table).strip().lower()
            for i, part in there.items():
                if wanted is not None and wanted not in (str(i), part.name.lower()):
                    continue
                if isinstance(part, fits.TableHDU):
                    nulls = [part.header.get(f"TNULL{k + 1}") for k in range(len(part.columns))]
                    return [(column.name, partial(_of_texts, part.data, column, null)) for column, null in zip(part.columns, nulls)]
                return _of_fields({column.name: _with_nulls(part.data, column) for column in part.columns})
    shown = ", ".join(f"{i} ({part.name})" if part.name else str(i) for i, part in there.items())
    raise ValueError(f"there is no table {table!r}: table= may choose of {shown}" if there else "it has no table, of which points are read")


def _with_nulls(data: Any, column: Any) -> Any:
    """A column of a binary table, masked where the file has TNULL, which is of what is stored: before it is scaled."""
    values, stored = data[column.name], data.view(np.ndarray)[column.name]
    if column.null is None or stored.dtype.kind not in "iu" or stored.shape != values.shape:
        return values
    return np.ma.MaskedArray(values, stored == column.null)


def _of_texts(data: Any, column: Any, null: Any) -> NDArray[Any]:
    """A column of an ASCII table. null: what the header has for TNULL, which astropy forgets if it is blank: a field is missing if it is the
    same but for blanks around it, in columns of numbers."""
    stored = data.view(np.ndarray)[column.name]
    missing = np.zeros(len(stored), np.bool_)
    if null is not None and not str(column.format).startswith("A"):
        missing = np.char.strip(stored) == str(null).strip()[: stored.dtype.itemsize].encode()
        stored[missing] = b"0"  # as a null need not be a number
    return _plain(np.ma.MaskedArray(data[column.name], missing), column.name)


def _read_parquet(file: Any, columns: Any) -> Any:
    opened = import_module("pyarrow.parquet").ParquetFile(file)
    schema = opened.schema_arrow

    def read(i: int) -> Any:
        found = opened.read([schema.names[i]])  # with those of the same name, and more where the name has dots
        same = [k for k, name in enumerate(found.schema.names) if name == schema.names[i]]
        return found.column(same[schema.names[:i].count(schema.names[i])])

    return _of_table(schema, columns, read)


def _read_arrow(file: Any, columns: Any) -> Any:
    table = import_module("pyarrow.feather").read_table(file, memory_map=False)
    return _of_table(table.schema, columns, table.column)


def _of_table(schema: Any, columns: Any, read: Callable[[int], Any]) -> list[tuple[str, Any]]:
    """Returns the pairs that _chosen() takes. Each number of a list becomes a column. A column of lists is read only if one of its numbers may be
    requested.
    """
    types = import_module("pyarrow.types")
    pairs: list[tuple[str, Any]] = []
    for i in _without_index(schema, columns):
        name, kind = schema.names[i], schema.types[i]
        begin = f"{name.strip()}[".lower()
        if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
            pairs.append((name, partial(lambda i: _of_arrow(read(i)), i)))
        elif not (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)):
            pairs.append((name, partial(_refuse, f"column {name!r} has lists of {kind.value_type}, which are no numbers")))
        elif columns is None or any(not isinstance(column, str) or column.strip().lower().startswith(begin) for column in columns):
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
    """Returns a column of lists of numbers as an array [rows, length]. A missing list becomes a row of NaN. Raises ValueError if lists differ in
    length.
    """
    lists, kind = column.combine_chunks(), column.type
    fixed = getattr(kind, "list_size", None)
    lengths = lists.value_lengths().drop_null().unique().to_pylist() if fixed is None else [fixed]
    if len(lengths) > 1:
        raise ValueError(f"column {name!r} has lists of {lengths[0]} and of {lengths[1]} values: write lists of one length")
    if not lengths and len(lists) > 0:
        raise ValueError(f"column {name!r} has no list, as all of its rows are missing: leave it out")
    length, flat = lengths[0] if lengths else 0, lists.flatten()
    is_whole = import_module("pyarrow.types").is_integer(kind.value_type)
    values = np.asarray((flat.fill_null(0) if is_whole else flat).to_numpy(False))  # of floats nulls are NaN
    if not lists.null_count and not (is_whole and flat.null_count):
        return values.reshape(len(lists), length)
    rows = np.full((len(lists), length), np.nan, np.float64 if is_whole else values.dtype)
    numbers = np.where(flat.is_null().to_numpy(False), np.nan, refuse_inexact(values, name)) if is_whole else values
    rows[lists.is_valid().to_numpy(False)] = numbers.reshape(len(lists) - lists.null_count, length)
    return rows


def _without_index(schema: Any, columns: Any) -> list[int]:
    """The numbers of the columns. Those of an index of pandas come last, and only where they are asked for by name."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    asked = [str(column).strip().lower() for column in columns or []]
    named = [i for i, name in enumerate(schema.names) if name in index and name.strip().lower() in asked]
    return [i for i, name in enumerate(schema.names) if name not in index] + named


def _of_arrow(column: Any) -> Any:
    """Whole numbers beside nulls stay what they are."""
    return np.array(column.to_pylist(), object) if column.null_count and "int" in str(column.type) else column.to_numpy()


def _read_raw(file: Any, columns: Any, dims: int, precision: str) -> Any:
    return np.frombuffer(file.read(), np.dtype(precision).newbyteorder("<")).reshape(-1, dims)


def _read_text(file: Any, columns: Any, **options: Any) -> Any:
    pandas = import_module("pandas")
    if parts := [name for name in ("chunksize", "iterator") if options.get(name)]:
        raise ValueError(f"{parts[0]}= reads a file in parts, and its points are read at once: use pandas.read_csv")
    mark = options.pop("comment", "#") or "\0"
    skipped = options.pop("skiprows", None) or 0
    if not isinstance(skipped, (int, np.integer)) or skipped < 0:
        raise ValueError(f"skiprows={skipped!r} is no number of lines: give a whole number, or use pandas.read_csv")
    text = file.read()
    text = b"\n".join(text[3 * text.startswith(b"\xef\xbb\xbf") :].split(b"\n", skipped)[skipped:])
    begin = re.match(rb"(?:%b)*((?:(?<![^\t;,| \n])\"[^\"]*\"|[^\n])*)" % _skipped_line(r"[\t;,| ]", r" \t", mark), text)
    first = begin[1][: 1 << 16].decode(errors="replace").strip() if begin else ""
    separators = [sep for sep in "\t;,|" if sep in first and sep != options.get("decimal")]
    sep = options.pop("delimiter", None) or options.pop("sep", None) or next(iter(separators), r"\s+")
    if b"\0" in text[:4096]:
        raise ValueError(
            f"it begins with {first[:40]!r}, and is of no known kind: raw floats take dims= and a name that ends in {', '.join(_RAW)}"
        )
    options = {"skipinitialspace": True, "index_col": False, "low_memory": False, **options}
    if options.get("keep_default_na", True) and not isinstance(options.get("na_values"), dict):
        options["na_values"] = [*_GAPS, *_listed(options.get("na_values"))]
    text = _rows_alone(text, sep, mark, None if options.get("quoting") == csv.QUOTE_NONE else options.get("quotechar", '"'))
    if int(pandas.__version__.partition(".")[0]) < 4:  # where that is not the default
        options = {"float_precision": "round_trip", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of float_precision
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # of rows that are longer than the first
        if "header" not in options:
            options["header"] = None if "names" in options or not _begins_with_names(_texts_of(text, sep, options, 102), options, first) else 0
        frame = pandas.read_csv(io.BytesIO(text), sep=sep, **options)
        names = _names_of_text(text, sep, options, list(frame))
    return [(name, partial(_numbers_of_texts, frame.iloc[:, i], name, options)) for i, name in enumerate(names)]


_ERRORS = (
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#N/A N/A", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!"),
    *("#CONNECT!", "#BUSY!", "#ERROR!", "#UNKNOWN!", "#GETTING_DATA", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOM?", "#NOMBRE!"),
    *("#NUL!", "#N/D", "#VALORE!", "#RIF!", "#NOME?", "#VALOR!", "#¡VALOR!", "#¡DIV/0!", "#¡NUM!", "#¡REF!", "#¿NOMBRE?", "#¡NULO!"),
)
"""What spreadsheets write for a value that a formula could not give, as the program has them (io/read/text/text_fields.cpp)."""
_GAPS = ["-", "--", "---", "?", *_ERRORS]
"""Missing values, besides those that pandas knows."""
_PANDAS_GAPS = ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None")
_NUMBER = re.compile(r"[-+]?(?:(?:\d+[.,]?\d*|[.,]\d+)(?:[eEdD][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)


def _skipped_line(sep: str, blanks: str, mark: str) -> bytes:
    """The pattern of a line that is no row: blank, or a comment, unless it begins with the error of a spreadsheet, or with one of the
    longer texts of data services. sep: a pattern."""
    errors = "|".join(map(re.escape, _ERRORS))
    return rf"[{blanks}]*(?:(?!#N/A|(?:{errors})(?:[ \t,;|\r\n]|{sep}|\Z)){re.escape(mark)}[^\n]*|\r?)(?:\n|\Z)".encode()


def _rows_alone(text: bytes, sep: str, mark: str, quote: str | None) -> bytes:
    """Without blank lines and comments, which are whole lines outside of quotes."""
    blanks, ends = " " if sep == "\t" else r" \t", re.escape(sep) if len(sep) == 1 else sep
    skipped = b"(?m)^" + _skipped_line(ends, blanks, mark)
    if not quote or quote.encode() not in text or len(sep) > 1 and sep != r"\s+":  # of other patterns pandas knows no quotes
        return re.sub(skipped, b"", text)
    before, q = ends if len(sep) == 1 else r"[ \t]", re.escape(quote)
    quoted = rf"(?:^|(?<={before}))[{blanks}]*{q}[^{q}]*(?:{q}{q}[^{q}]*)*{q}".encode()
    return re.sub(skipped + b"|(?P<quoted>" + quoted + b")", lambda found: found["quoted"] or b"", text)


def _texts_of(text: bytes, sep: str, options: dict[str, Any], most: int, skipped: int = 0) -> list[list[str]]:
    """The fields of the first rows."""
    alike = ("skipinitialspace", "quotechar", "quoting", "doublequote", "escapechar", "encoding", "encoding_errors", "engine", "on_bad_lines")
    form = {name: options[name] for name in alike if name in options}
    first = {"header": None, "skiprows": skipped, "nrows": most, "dtype": str, "na_filter": False}
    found: list[list[str]] = import_module("pandas").read_csv(io.BytesIO(text), sep=sep, **first, **form).to_numpy().tolist()
    return found


def _begins_with_names(rows: list[list[str]], options: dict[str, Any], first: str) -> bool:
    """Whether the first row has names of columns: text and no number, and a number below it. Raises ValueError if it may be either."""

    def kind(field: Any) -> str:
        field = str(field).strip()
        return "gap" if field in _gaps_of(options) else "number" if _NUMBER.fullmatch(field) else "text"

    kinds = [kind(field) for field in rows[0]]
    numbers = rows[0][1:] if rows[0][0] == "" else rows[0]
    if len(rows[0]) > 1 and numbers == [str(i) for i in range(len(numbers))]:
        raise ValueError(f"it begins with {first[:40]!r}, numbers or names of columns: say header=None or header=0")
    if "number" in kinds or "text" not in kinds:
        return False
    if len(rows) == 1 or any(kinds[k] == "text" and kind(row[k]) == "number" for row in rows[1:] for k in range(len(kinds))):
        return True
    raise ValueError(f"it begins with {first[:40]!r}, names of columns or a row without a number, as none is below its texts: say header=0 or header=None")


def _gaps_of(options: dict[str, Any]) -> set[str]:
    """Texts that are missing values."""
    return {*(_PANDAS_GAPS if options.get("keep_default_na", True) else ()), *_listed(options.get("na_values"))}


def _listed(given: Any) -> list[Any]:
    return [] if given is None or isinstance(given, dict) else list(given) if np.iterable(given) and not isinstance(given, str) else [given]


def _numbers_of_texts(values: Any, name: Any, options: dict[str, Any]) -> Any:
    """A column that pandas takes for text, as numbers if each is one, as 1.5D+02 that Fortran writes, or missing; else as it is."""
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
    """The names as the file has them: of two columns that are named x pandas calls one x.1."""
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
"""What files begin with."""

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
