"""Points from files, and their labels, must equal the program's. Each test skips without its library.

EPSFLOW_TEST_DATA is the folder of the golden files' data. If it is not set, their tests skip.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import warnings
import zipfile

import numpy as np
import pytest
from test_golden import FOLDER, variants_by_table

import epsflow

# Tenths are not representable in float64. At an eps of a tenth, labels depend on the last bit of each number.
POINTS = np.random.default_rng(11).integers(-40, 40, size=(2000, 2)) / 10
# SHA-256 of the int32 labels from `epsflow cluster points.csv --eps 0.1 --minpts 3 --out labels.npy`.
LABELS = "36ab5901dd4e11025b4a0d399785bc614038b1ec84ce1b7f5ebf9b0bad990282"


def require_labels(X) -> None:
    found = epsflow.sweep(X, 0.1, 3, backend="cpu")[0].labels
    assert hashlib.sha256(found.astype("<i4").tobytes()).hexdigest() == LABELS


def text_of(sep, *before) -> str:
    return "\n".join([*before, *(sep.join(map(repr, row)) for row in POINTS.tolist())]) + "\n"


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


@pytest.fixture
def read_text(tmp_path, pandas):
    """Returns a function that writes a text to a file and reads its points."""

    def read(text: str, columns=None, **options):
        (tmp_path / "points.txt").write_bytes(text.encode())
        return epsflow.read_points(tmp_path / "points.txt", columns, **options)

    return read


def columns_of() -> dict[str, np.ndarray]:
    return {
        "name": np.array(["a"] * len(POINTS)), "x": POINTS[:, 0].copy(), "id": np.arange(len(POINTS)),
        "y": POINTS[:, 1].copy(),
    }


def write_npy(path):
    columns = columns_of()
    np.save(path, np.rec.fromarrays(list(columns.values()), names=list(columns)))


def write_hdf5(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        for name, values in columns_of().items():
            file[f"galaxies/{name}"] = values.astype("S") if name == "name" else values


def write_arrow(path, columns):
    """Writes columns, or a table of pyarrow, as Parquet or Feather: the name of the file decides."""
    table = pytest.importorskip("pyarrow").table(columns) if isinstance(columns, dict) else columns
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path))


KINDS = {
    "csv": (lambda path: path.write_text(text_of(",", "x,y")), None),
    "npy": (write_npy, None),
    "npz": (lambda path: np.savez(path, **columns_of()), None),
    "fits": (lambda path: pytest.importorskip("astropy.table").Table(columns_of()).write(path, format="fits"), 1),
    "h5": (write_hdf5, "galaxies"),
    "parquet": (lambda path: write_arrow(path, columns_of()), None),
    "feather": (lambda path: write_arrow(path, columns_of()), None),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ending", KINDS)
def test_every_kind_gives_the_labels_of_the_program(tmp_path, pandas, ending, packed):
    write, table = KINDS[ending]
    file = tmp_path / f"points.{ending}"
    write(file)
    if packed:
        (tmp_path / f"points.{ending}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file = tmp_path / f"points.{ending}.gz"
    X = epsflow.read_points(file, ["x", "y"], table)
    assert isinstance(X, pandas.DataFrame) and list(X) == ["x", "y"]
    np.testing.assert_array_equal(X.to_numpy(), POINTS)
    require_labels(X)
    if ending == "csv":
        np.testing.assert_array_equal(epsflow.read_points(str(file), [-1, 0]).to_numpy(), POINTS[:, ::-1])
    elif ending not in ("npz", "h5"):
        np.testing.assert_array_equal(epsflow.read_points(str(file), [-1, "x"], table).to_numpy(), POINTS[:, ::-1])
    two = epsflow.read_points([file, file], ["x", "y"], table)
    np.testing.assert_array_equal(two.to_numpy(), np.concatenate([POINTS, POINTS]))
    assert two.index.tolist() == list(range(2 * len(POINTS)))


@pytest.mark.parametrize("key", variants_by_table(), ids=lambda key: "-".join(key[1:]))
def test_the_known_labels_of_real_files(key):
    folder, file, table, columns = key
    rows = variants_by_table()[key]
    names = columns.split("+") if columns else None
    if names and all(name.isdigit() for name in names):
        names = [int(name) for name in names]
    pytest.importorskip("astropy" if ".fits" in file else "h5py" if "hdf5" in file else "pandas")
    points, kept = epsflow.drop_missing(epsflow.read_points(FOLDER / folder / file, names, table or None))
    assert len(kept) == int(rows[0]["rows"])
    results = epsflow.sweep(points, variants=[(float(row["eps"]), int(row["minpts"])) for row in rows])
    for row, result in zip(rows, results):
        assert hashlib.sha256(result.labels.astype("<i4").tobytes()).hexdigest() == row["labels_sha256"]


@pytest.mark.parametrize("write", [repr, lambda value: f"{value:.17E}".replace("E", "D")], ids=["Python", "Fortran"])
def test_numbers_of_text_are_read_to_the_last_bit(read_text, write):
    values = np.random.default_rng(3).uniform(-300, 300, size=(20000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_text("\n".join(f"{write(a)} {write(b)}" for a, b in values.tolist()))
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (text_of(",", "x,y"), {}),
        (text_of(";", '"x";"y"'), {}),
        (text_of("\t", "# a table", "", "x\ty", "# more"), {}),
        (text_of(","), {}),
        (text_of(" "), {}),
        (text_of("   ", "# no names"), {}),
        (text_of("|", "x|y").replace(".", ","), {"decimal": ","}),
        (text_of(",", "a table", "x,y"), {"skiprows": 1}),
        (text_of(",", "% a table", "x,y"), {"comment": "%"}),
        (text_of(",", "#x,y"), {"comment": "", "names": ["x", "y"], "header": 0}),
        (text_of(";", " x ;y "), {"columns": ["x", "Y"], "delimiter": ";"}),
        ("\ufeff" + text_of(","), {}),
        (text_of(",", "0,1"), {"header": 0}),
        (text_of(" ").replace(".", ","), {"decimal": ","}),
        (text_of(" ", "x y").replace(".", ","), {"decimal": ","}),
    ],
)
def test_what_text_says_of_itself(read_text, text, options):
    for written in (text, text.replace("\n", "\r\n")):
        X = read_text(written, **options)
        assert isinstance(X, np.ndarray) or [str(name).strip() for name in X] == ["x", "y"] or "header" in options
        np.testing.assert_array_equal(np.asarray(X), POINTS)


def test_one_column_with_decimal_commas(read_text):
    assert read_text("1,5\n2,5\n", decimal=",").tolist() == [[1.5], [2.5]]


def test_a_mark_of_byte_order_before_a_comment(read_text):
    assert list(read_text("\ufeff# a table\nx,y\n1,2\n")) == ["x", "y"]


def test_gaps_and_whole_numbers_of_text(read_text):
    X = read_text("name,x,y\n#5,1,2\nb #6,-,4\nc,5,#N/A\nd,7,8\n", ["x", "y"])  # the row "#5" is a comment
    np.testing.assert_array_equal(X.to_numpy(), [[np.nan, 4], [5, np.nan], [7, 8]])
    np.testing.assert_array_equal(epsflow.drop_missing(X)[0], [[7, 8]])
    with pytest.raises(ValueError, match="column 'x'.*2\\*\\*53"):
        epsflow.sweep(read_text(f"x,y\n{2**53 + 1},1\n"), 1, 1)
    with pytest.raises(ValueError, match="column 'x' has 9007199254740993"):
        read_text(f"x,y\n1.5D+02,1\n{2**53 + 1},2\n")


ERRORS = [
    "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#GETTING_DATA", "#NV", "#¡DIV/0!", "#¿NOMBRE?"
]


@pytest.mark.parametrize("sep", [",", ";", "\t", " ", "|"])
@pytest.mark.parametrize("error", ERRORS)
def test_errors_of_spreadsheets_are_gaps(read_text, error, sep):
    nan = np.nan
    rows = (
        ("x", "y"), (1, 2), (error, 3), ("#3", 4), (error, error), ("# a", "comment"), (6, error), (f'"{error}"', 7)
    )
    for end in ("\n", "\r\n"):
        X = read_text("".join(sep.join(map(str, row)) + end for row in rows))
        assert list(X) == ["x", "y"]
        np.testing.assert_array_equal(X.to_numpy(), [[1, 2], [nan, 3], [nan, nan], [6, nan], [nan, 7]])
        assert epsflow.drop_missing(X)[1].tolist() == [0]
    # The first row may be an error, too.
    np.testing.assert_array_equal(read_text(f"{error}{sep}{error}\n1{sep}2\n"), [[nan, nan], [1, 2]])


def test_lines_inside_of_quotes_are_no_comments(read_text):
    X = read_text('name,x,y\n"a\n# b\n\n c",1,2\n# "a comment\n"d ""\n# e""",3,4\nf "g,5,6\n# h\n')
    assert X["x"].tolist() == [1, 3, 5] and X["name"].tolist() == ["a\n# b\n\n c", 'd "\n# e"', 'f "g']
    X = read_text('x y name\n1 2 "a\n#b"\n3 4 c\n', ["x", "y"])
    np.testing.assert_array_equal(X.to_numpy(), [[1, 2], [3, 4]])
    assert list(read_text('"the\n#x, first",y\n1,2\n')) == ["the\n#x, first", "y"]
    assert read_text("name,x\n'a\n#b',1\n'c',2\n", quotechar="'")["x"].tolist() == [1, 2]


@pytest.mark.parametrize("text", ["x\ty\n1\t2\n\t\n\n3\t4\n", "x,y\n1,2\n,\n  \n3,4\n"])
def test_rows_without_any_value(read_text, text):
    np.testing.assert_array_equal(read_text(text).to_numpy(), [[1, 2], [np.nan, np.nan], [3, 4]])


@pytest.mark.parametrize(
    "gap",
    ["", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NAN", "+nan", "null", "NULL", "None", "-", "--", "---", "?", " NA ",
     '"NA"', *ERRORS],
)
def test_a_first_row_of_gaps_is_one_of_data(read_text, gap):
    X = read_text(f"{gap},{gap}\n1,2\n3,{gap}\n")
    np.testing.assert_array_equal(X, [[np.nan, np.nan], [1, 2], [3, np.nan]])


@pytest.mark.parametrize(
    ("first", "value"),
    [("1.5D+02", 150), ("1.5d2", 150), ("+15.D1", 150), (".15D3", 150), ("-1D-02", -0.01), ("Infinity", np.inf),
     ("-infinity", -np.inf), ("INF", np.inf), ("+inf", np.inf)],
)
def test_numbers_as_fortran_and_others_write_them(read_text, first, value):
    for text in (f"{first} {first}\n3.0 4.0\n", f"{first},NA\n3,4\n"):
        X = read_text(text)
        assert isinstance(X, np.ndarray) and X[0, 0] == value and X[1].tolist() == [3, 4]
    X = read_text(f"x,y\n1,2\n{first},{first} \nNA ,3\n")
    np.testing.assert_array_equal(X.to_numpy(), [[1, 2], [value, value], [np.nan, 3]])
    X = read_text(f"x;y\n1,5;2\n{first.replace('.', ',')};2,5\n", decimal=",")
    assert X.to_numpy().tolist() == [[1.5, 2], [value, 2.5]]


def test_texts_stay_texts(read_text):
    X = read_text("star,x\n1D5,1\nNA,2\nV1,3\n")
    assert X["star"][0] == "1D5" and X["star"].isna().tolist() == [False, True, False]
    stars = "star,x\n1D5,1\n2D5,2\nNA,3\n"
    assert read_text(stars, dtype=str)["star"].tolist()[:2] == ["1D5", "2D5"]
    assert read_text(stars, dtype_backend="numpy_nullable")["star"].tolist()[:2] == [1e5, 2e5]
    assert read_text("flag,x\nTrue,1\nNA,2\nFalse,3\n")["flag"].tolist()[::2] == [True, False]


def test_a_first_row_that_may_be_names_or_data(read_text):
    text = "NA,star1\n1,star2\n3,star3\n"
    with pytest.raises(ValueError, match="begins with 'NA,star1'.*say header=0 or header=None"):
        read_text(text, [0])
    np.testing.assert_array_equal(read_text(text, [0], header=None), [[np.nan], [1], [3]])
    with pytest.raises(ValueError, match="begins with ',0,1'.*header"):
        read_text(",0,1\n0,0.5,2\n")  # pandas writes an index and columns without names like this
    assert [str(name) for name in read_text('"x, 1",NA\n1,2\n')] == ["x, 1", "NA"]
    np.testing.assert_array_equal(read_text("gone,gone\n1,2\n", na_values=["gone"]), [[np.nan, np.nan], [1, 2]])
    empty = read_text("x,y\n")
    assert list(empty) == ["x", "y"] and len(empty) == 0


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n#N/A,3\n4,5\n#DIV/0!,#VALUE!\n6,7\n#3,4\n",
        "NA,NA\n1,2\n3,4\n",
        "1.5D+02 2.5D+00\n3.0 4.0\n5.0 6.0\n",
        "x\ty\n1\t2\n\t\n3\t#NUM!\n",
        'x,y,n\n1,2,"a\n#b"\n3,4,c\n',
        "?,Infinity\n1,2\n+nan,3\n",
        "x;y\n1;2\n#REF!;3\n#NAME?;#NULL!\n-INF;4\n",
    ],
)
def test_the_program_reads_the_same_rows(tmp_path, program, read_text, text):
    X = read_text(text, [0, 1])
    done = program(
        "cluster", tmp_path / "points.txt", "--columns", "0,1", "--on-nan", "drop", "--eps", 1, "--minpts", 1,
        "--out", tmp_path / "labels.npy", "--labelled", tmp_path / "copy.csv",
    )
    assert done.returncode == 0, done.stderr
    points, kept = epsflow.drop_missing(X)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), epsflow.sweep(points, 1, 1)[0].labels)
    copy = epsflow.read_points(tmp_path / "copy.csv", ["label"], header=0)["label"]
    assert len(copy) == len(X) and np.flatnonzero(copy.notna()).tolist() == kept.tolist()


@pytest.mark.parametrize(("ending", "dtype"), [("f32", "<f4"), ("f64", "<f8"), ("raw", "<f8")])
def test_raw_floats(tmp_path, ending, dtype):
    file = tmp_path / f"points.{ending}"
    POINTS.astype(dtype).tofile(file)
    X = epsflow.read_points(file, dims=2)
    assert X.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(X, POINTS.astype(dtype))
    np.testing.assert_array_equal(epsflow.read_points([file, file], 1, dims=2)[: len(POINTS), 0], X[:, 1])
    for options in ({}, {"dims": 2, "precision": "int32"}, {"dims": 3}):
        with pytest.raises(ValueError, match=f"points.{ending}: .*(give dims=|precision|reshape)"):
            epsflow.read_points(file, **options)


def test_raw_floats_are_named_so(tmp_path):
    for name in ("x.f32.gz", "x.BIN", "x.raw.GZ"):
        content = POINTS.astype("<f4").tobytes()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith("gz") else content)
        np.testing.assert_array_equal(
            epsflow.read_points(tmp_path / name, dims=2, precision="float32"), POINTS.astype("<f4")
        )
    for ending, other in (("f32", "float64"), ("f64", "float32")):
        POINTS.tofile(tmp_path / f"x.{ending}")
        with pytest.raises(ValueError, match=f"x.{ending}: precision='{other}' is not what its name says, .{ending}"):
            epsflow.read_points(tmp_path / f"x.{ending}", dims=2, precision=other)


def test_arrays_of_numpy(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(POINTS))
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.npy"), POINTS)
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.npy", [-1]), POINTS[:, 1:])
    np.save(tmp_path / "x.npy", POINTS[:, 0].astype(">f4"))
    assert epsflow.read_points(tmp_path / "x.npy").shape == (len(POINTS), 1)
    np.savez(tmp_path / "x.npz", X=POINTS, names=np.array(["a", "b"]), objects=np.array([{}], object))
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.npz", table="X"), POINTS)
    np.savez(tmp_path / "x.npz", X=POINTS, labels=np.arange(len(POINTS)))
    with pytest.raises(ValueError, match="x.npz: say which array.*table=.*'X', 'labels'"):
        epsflow.read_points(tmp_path / "x.npz")
    np.save(tmp_path / "x.npy", POINTS.reshape(2, 2, -1))
    with pytest.raises(ValueError, match="x.npy: .*shape"):
        epsflow.read_points(tmp_path / "x.npy")


def test_objects_beside_arrays(tmp_path):
    names = np.empty(3, object)
    names[:] = ["a", "b", None]
    points = np.array([[0.0, 0], [1, 0], [5, 5]])
    records = np.array([(1, None)] * 3, [("a", int), ("b", object)])
    np.savez(tmp_path / "x.npz", X=points, names=names, records=records)
    assert epsflow.read_points(tmp_path / "x.npz").tolist() == points.tolist()
    np.savez_compressed(
        tmp_path / "y.npz", **{"g/lon": points[:, 0], "g/lat": points[:, 1], "g/names": names, "lon": names}
    )
    for columns, table in ((["g/lon", "g/lat"], None), (["lon", "lat"], "g")):
        assert np.asarray(epsflow.read_points(tmp_path / "y.npz", columns, table)).tolist() == points.tolist()
    for file, columns, table in (
        ("x", None, "names"), ("x", ["names"], None), ("y", ["lon"], None), ("y", ["lon", "names"], "g"),
        ("x", None, "records"),
    ):
        with pytest.raises(ValueError, match=f"{file}.npz: .*allow_pickle=False"):
            epsflow.read_points(tmp_path / f"{file}.npz", columns, table)


class Unpickled:
    def __reduce__(self):
        return (exec, ("raise AssertionError('it was unpickled')",))


def test_what_is_no_array_beside_arrays(tmp_path):
    content = {}
    for name, array in (("X", POINTS), ("bad", np.array([Unpickled()] * 3, object))):
        held = io.BytesIO()
        np.save(held, array, allow_pickle=True)
        content[name] = held.getvalue()
    head = np.lib.format.magic(3, 0) + b"\x20\x00\x00\x00" + b"{'descr': [('\xc3\xa9', '<f8')]".ljust(32)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        for member, values in {
            "readme.txt": b"hello", "X.npy": content["X"], "bad.npy": content["bad"], "text.npy": b"no array",
            "head.npy": head, "empty.npy": b"",
        }.items():
            archive.writestr(member, values)
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.npz"), POINTS)
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.npz", table="X"), POINTS)
    for table in ("bad", "text", "head", "empty", "readme.txt"):
        with pytest.raises(ValueError, match="x.npz: "):
            epsflow.read_points(tmp_path / "x.npz", table=table)
    with pytest.raises(ValueError, match="say which array.*; there is no 'nowhere'"):
        epsflow.read_points(tmp_path / "x.npz", table="nowhere")
    named = np.zeros(len(POINTS), [("é", "<f8"), ("y", "<f8")])  # its header has the newest version
    named["é"], named["y"] = POINTS.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(tmp_path / "y.npz", points=named)
    np.testing.assert_array_equal(np.asarray(epsflow.read_points(tmp_path / "y.npz", ["é", "y"])), POINTS)


def test_vectors_are_columns(tmp_path, pandas):
    records = np.zeros(len(POINTS), [("pos", ">f8", 2), ("id", "i4")])
    records["pos"] = POINTS
    np.save(tmp_path / "x.npy", records)
    X = epsflow.read_points(tmp_path / "x.npy", ["pos[0]", "pos[1]"])
    require_labels(X)
    assert list(epsflow.read_points(tmp_path / "x.npy")) == ["pos[0]", "pos[1]", "id"]
    assert isinstance(X, pandas.DataFrame) and X.dtypes.tolist() == [np.dtype("float64")] * 2
    table = pytest.importorskip("astropy.table")
    table.Table(records).write(tmp_path / "x.fits")
    require_labels(epsflow.read_points(tmp_path / "x.fits", ["POS[0]", "Pos[1]"]))
    with pytest.importorskip("h5py").File(tmp_path / "x.h5", "w") as file:
        file["a/b"] = records
    require_labels(epsflow.read_points(tmp_path / "x.h5", ["pos[0]", "pos[1]"]))


def test_nulls_of_tables(tmp_path, pandas, arrow):
    write_arrow(tmp_path / "x.parquet", {"x": [1.5, 2.5, None], "n": [2**53 + 1, None, 3], "s": ["a", None, "c"]})
    X = epsflow.read_points(tmp_path / "x.parquet")
    assert np.isnan(X["x"][2]) and X["n"][0] == 2**53 + 1 and X["s"][0] == "a"
    with pytest.raises(ValueError, match="'n'.*2\\*\\*53"):
        epsflow.drop_missing(X[["x", "n"]])
    table = pytest.importorskip("astropy.table")
    masked = table.MaskedColumn([1, 2, 3], mask=[False, True, False])
    table.Table({"x": [1.0, 2.0, np.nan], "n": masked}).write(tmp_path / "x.fits")
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.fits"), [[1, 1], [2, np.nan], [np.nan, 3]])


def test_units_and_further_tables_of_fits(tmp_path, pandas):
    fits = pytest.importorskip("astropy.io.fits")
    a = fits.Column(name="RA", format="E", array=POINTS[:, 0], unit="furlong per fortnight")
    b = fits.Column(name="B", format="J", array=np.arange(len(POINTS)))
    tables = [fits.BinTableHDU.from_columns(columns, name=name) for name, columns in (("A", [a]), ("Second", [a, b]))]
    hdus = [fits.PrimaryHDU(), *tables]
    fits.HDUList(hdus).writeto(tmp_path / "x.fits")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = epsflow.read_points(tmp_path / "x.fits")
        assert list(first) == ["RA"] and first["RA"].dtype == np.float32
        for name in (2, "second", "SECOND"):
            assert list(epsflow.read_points(tmp_path / "x.fits", table=name)) == ["RA", "B"]
        assert list(epsflow.read_points(tmp_path / "x.fits", table="1")) == ["RA"]
    fits.HDUList(hdus[:2]).writeto(tmp_path / "one.fits")
    for wrong in ("third", 0, 3, -1, ""):
        for file, shown in (("x", r"1 \(A\), 2 \(SECOND\)"), ("one", r"1 \(A\)")):
            words = f"{file}.fits: there is no table {wrong!r}: table= may choose of {shown}$"
            with pytest.raises(ValueError, match=words):
                epsflow.read_points(tmp_path / f"{file}.fits", table=wrong)
    fits.HDUList([fits.PrimaryHDU(POINTS)]).writeto(tmp_path / "image.fits")
    with pytest.raises(ValueError, match="image.fits: it has no table"):
        epsflow.read_points(tmp_path / "image.fits")


def test_nulls_of_scaled_numbers_of_fits(tmp_path, pandas):
    fits = pytest.importorskip("astropy.io.fits")
    stored = np.array([1, -38, 3, -9], "i2")
    arrays = {"z": ("I", stored), "v": ("2I", np.stack([stored, stored + 1], axis=1)), "u": ("I", stored)}
    columns = [fits.Column(name=name, format=kind, array=array, null=-9) for name, (kind, array) in arrays.items()]
    part = fits.BinTableHDU.from_columns(columns)
    header = part.header.tostring(sep="", endcard=False, padding=False)
    part.writeto(tmp_path / "x.fits")
    content = (tmp_path / "x.fits").read_bytes()
    scales = {"TSCAL1": 0.5, "TZERO1": 10.0, "TSCAL2": 0.5, "TZERO2": 10.0, "TZERO3": 32768}
    cards = header + "".join(str(fits.Card(name, value)) for name, value in scales.items()) + "END"
    begin = content.index(b"XTENSION")
    (tmp_path / "x.fits").write_bytes(content[:begin] + cards.ljust(2880).encode() + content[begin + 2880 :])
    X = epsflow.read_points(tmp_path / "x.fits")
    np.testing.assert_array_equal(X["z"], [10.5, -9, 11.5, np.nan])  # -9 is a scaled value, not a null
    np.testing.assert_array_equal(X["v[0]"], [10.5, -9, 11.5, np.nan])
    np.testing.assert_array_equal(X["v[1]"], [11, -8.5, 12, 6])
    np.testing.assert_array_equal(X["u"], [32769, 32730, 32771, np.nan])
    text = [
        fits.Column(name="x", format="F10.3", array=[1, -9, 3], null="-9.000"),
        fits.Column(name="y", format="I5", array=[1, 2, 3]),
    ]
    fits.TableHDU.from_columns(text).writeto(tmp_path / "text.fits")
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "text.fits").to_numpy(), [[1, 1], [np.nan, 2], [3, 3]])


def ascii_table(path, form, fields, null) -> None:
    """Writes an ASCII table of FITS with fields of ten letters in x, and y from 0 on."""
    cards = {
        "XTENSION": "'TABLE   '", "BITPIX": 8, "NAXIS": 2, "NAXIS1": 20, "NAXIS2": len(fields), "PCOUNT": 0,
        "GCOUNT": 1, "TFIELDS": 2, "TTYPE1": "'x       '", "TFORM1": f"'{form:<8}'", "TBCOL1": 1,
        "TTYPE2": "'y       '", "TFORM2": "'F10.2   '", "TBCOL2": 11,
        **({} if null is None else {"TNULL1": f"'{null:<8}'"}),
    }
    primary = {"SIMPLE": "T", "BITPIX": 8, "NAXIS": 0, "EXTEND": "T"}
    headers = [
        "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in part.items()) + "END".ljust(80)
        for part in (primary, cards)
    ]
    rows = "".join(field + f"{i:10.2f}" for i, field in enumerate(fields))
    assert all(len(field) == 10 for field in fields)
    path.write_bytes("".join(part + " " * (-len(part) % 2880) for part in (*headers, rows)).encode())


NULLS = [
    ("I10", ["         1", "       -99", "         3"], "-99", [1, np.nan, 3]),
    ("F10.4", ["-99.500000", "-9        ", "   -9.5000"], "-9", [-99.5, np.nan, -9.5]),
    ("I10", ["        11", "          ", "        33"], " ", [11, np.nan, 33]),
    ("F10.4", ["   11.0000", "          ", "   33.5000"], " ", [11, np.nan, 33.5]),
    ("E10.3", ["       NaN", "   1.5E+01", "         2"], "NaN", [np.nan, 15, 2]),
    ("D10.3", ["     INDEF", "   1.5D+01", "INDEF     "], "INDEF", [np.nan, 15, np.nan]),
    ("I10", ["       ---", "         5", "---       "], "---", [np.nan, 5, np.nan]),
    ("F10.4", ["     -99.0", "       -99", "     -99.9"], "-99", [-99, np.nan, -99.9]),
    ("F10.4", ["     -99.0", "       -99", "       1.5"], None, [-99, -99, 1.5]),
]


@pytest.mark.parametrize(("form", "fields", "null", "expected"), NULLS)
def test_nulls_of_ascii_tables_of_fits(tmp_path, pandas, form, fields, null, expected):
    pytest.importorskip("astropy")
    ascii_table(tmp_path / "x.fits", form, fields, null)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = epsflow.read_points(tmp_path / "x.fits")
    np.testing.assert_array_equal(X.to_numpy(), np.column_stack([expected, [0, 1, 2]]))
    assert epsflow.drop_missing(X)[1].tolist() == np.flatnonzero(np.isfinite(expected)).tolist()


def test_columns_of_ascii_tables_that_nobody_asked_for(tmp_path, pandas):
    pytest.importorskip("astropy")
    ascii_table(tmp_path / "x.fits", "F10.4", ["no number ", "         5", "---       "], None)
    assert epsflow.read_points(tmp_path / "x.fits", ["y"])["y"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="x.fits: "):
        epsflow.read_points(tmp_path / "x.fits", ["x"])
    ascii_table(tmp_path / "x.fits", "A10", ["a         ", "-9        ", "c         "], "-9")
    assert [text.strip() for text in epsflow.read_points(tmp_path / "x.fits")["x"]] == ["a", "-9", "c"]


UNSIGNED = {
    "i1": ("int8", "true", [0, -56, -1], [0, 200, 255]),
    "i2": (">i2", b"true", [0, -56, -1], [0, 65480, 65535]),
    "i4": ("<i4", "True", [0, -56, -1], [0, 2**32 - 56, 2**32 - 1]),
    "i8": ("<i8", "true", [0, 7, 2**52], [0, 7, 2**52]),
    "u1": ("uint8", "false", [0, 200, 255], [0, -56, -1]),
    "u4": (">u4", b"false", [0, 2**32 - 56, 5], [0, -56, 5]),
    "no": ("int8", "false", [0, -56, -1], [0, -56, -1]),
    "f4": ("float32", "true", [0, -56, -1], [0, -56, -1]),
}


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_numbers_of_netcdf(tmp_path, h5py, name):
    kind, said, stored, expected = UNSIGNED[name]
    for text in (said, np.bytes_(said), np.array([said], dtype=h5py.string_dtype())):
        with h5py.File(tmp_path / "x.nc", "w") as file:
            for key, array in {"matrix": np.column_stack([stored, stored]), "lon": stored, "lat": stored}.items():
                file.create_dataset(key, data=np.array(array, kind)).attrs["_Unsigned"] = text
        for columns, table in ((None, "matrix"), (["lon", "lat"], None)):
            X = epsflow.read_points(tmp_path / "x.nc", columns, table)
            np.testing.assert_array_equal(np.asarray(X), np.column_stack([expected, expected]))
    with h5py.File(tmp_path / "x.nc", "a") as file:
        file["lon"].attrs["_FillValue"] = np.array([1 if "u" in kind else -1], kind)
    with pytest.raises(ValueError, match="/lon is of netCDF, with _FillValue: .*xarray"):
        epsflow.read_points(tmp_path / "x.nc", ["lon", "lat"])


@pytest.mark.parametrize("code", [32015, 32008, 303])
def test_filters_that_hdf5_lacks(tmp_path, h5py, code):
    if h5py.h5z.filter_avail(code):
        pytest.skip(f"the filter {code} is there")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        packed = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        packed.set_chunk((3, 2))
        packed.set_filter(code, h5py.h5z.FLAG_OPTIONAL)
        made = h5py.h5d.create(file.id, b"points", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((3, 2)), packed)
        made.write_direct_chunk((0, 0), b"as the filter packs it", 0)
        file["plain"] = POINTS
    words = f"x.h5: /points is packed by the filter .*{code}, which this HDF5 lacks: import hdf5plugin"
    with pytest.raises(ValueError, match=words):
        epsflow.read_points(tmp_path / "x.h5", table="points")
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.h5", table="plain"), POINTS)


STARS = np.arange(9.0).reshape(3, 3) + 50


@pytest.fixture
def snapshot(tmp_path, h5py):
    """Writes the files of a snapshot: dark matter; dark matter and two stars; one star; an empty group of stars."""
    dark = np.arange(12.0).reshape(4, 3)
    total = np.array([0, 8, 0, 0, 3, 0], np.uint32)
    files = []
    for number, held in enumerate([{1: dark}, {1: dark, 4: STARS[:2]}, {4: STARS[2:]}, {4: STARS[:0]}]):
        files.append(tmp_path / f"snap.{number}.hdf5")
        with h5py.File(files[-1], "w") as file:
            header = file.create_group("Header").attrs
            header["NumPart_ThisFile"] = np.array([len(held.get(kind, ())) for kind in range(6)], np.uint32)
            header["NumPart_Total"], header["NumPart_Total_HighWord"] = total, np.zeros(6, np.uint32)
            for kind, positions in held.items():
                file[f"PartType{kind}/Coordinates"] = positions
                file[f"PartType{kind}/Masses"], file[f"PartType{kind}/Ages"] = positions[:, 0], positions[:, 1]
                if kind == 4:
                    file["StarsParticles"] = h5py.SoftLink("/PartType4")
    return files


def test_files_of_a_snapshot_without_the_type(snapshot):
    a, b, c, empty = snapshot
    for order in ([a, b, c], [b, a, c], [b, c, a], [a, a, b, c, a], [a, empty, b, c]):
        for table in ("PartType4/Coordinates", "/PartType4/Coordinates", "StarsParticles/Coordinates"):
            assert epsflow.read_points(order, table=table).tolist() == STARS.tolist()
        assert epsflow.read_points(order, [2, 0], table="PartType4/Coordinates").tolist() == STARS[:, [2, 0]].tolist()
        for columns, table in ((["Masses", "Ages"], "PartType4"), (["PartType4/Masses", "PartType4/Ages"], None)):
            assert np.asarray(epsflow.read_points(order, columns, table)).tolist() == STARS[:, :2].tolist()
    for files, columns, table, words in (
        ([a, a], None, "PartType4/Coordinates",
         "snap.0.hdf5: no particles in 'PartType4/Coordinates', which other files of the snapshot have"),
        ([a, b], None, "PartType5/Coordinates",  # no file has it
         "snap.0.hdf5: say which array.*; there is no 'PartType5/Coordinates'"),
        ([a, b], None, "PartType4/Coordinate", "snap.1.hdf5: say which array.*; there is no 'PartType4/Coordinate'$"),
        ([a, b], ["Masses", "Metals"], "PartType4", "snap.1.hdf5: say which array.*; there is no 'Metals'"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.read_points(files, columns, table)


def test_a_file_that_is_of_no_snapshot(snapshot, h5py, tmp_path):
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["positions"] = STARS
    with pytest.raises(ValueError, match="other.hdf5: say which array.*; there is no 'PartType4/Coordinates'"):
        epsflow.read_points([tmp_path / "other.hdf5", snapshot[1]], table="PartType4/Coordinates")
    with h5py.File(snapshot[0], "a") as file:
        del file["Header"].attrs["NumPart_Total"]
    with pytest.raises(ValueError, match="snap.0.hdf5: say which array.*; there is no 'PartType4/Coordinates'"):
        epsflow.read_points(snapshot[:2], table="PartType4/Coordinates")


def test_arrays_of_hdf5(tmp_path, h5py):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["deep/down/points"] = POINTS
        file["text"] = "what this is"
    require_labels(epsflow.read_points(tmp_path / "x.h5"))
    require_labels(epsflow.read_points(tmp_path / "x.h5", table="/deep/down/points"))
    with h5py.File(tmp_path / "x.h5", "a") as file:
        file["lon"], file["lat"] = POINTS.T
    if "pandas" in sys.modules:
        require_labels(epsflow.read_points(tmp_path / "x.h5", ["/lon", "lat"]))
    with pytest.raises(ValueError, match="x.h5: say which array.*'deep/down/points'"):
        epsflow.read_points(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5", "a") as file:
        file["lon"].attrs["scale_factor"] = 0.1
    with pytest.raises(ValueError, match="/lon is of netCDF, with scale_factor: .*xarray"):
        epsflow.read_points(tmp_path / "x.h5", ["lon", "lat"])


def test_links_of_hdf5(tmp_path, h5py):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["g/points"], file["g/x"], file["g/y"] = POINTS, *POINTS.T
        file["other"] = POINTS[:3]
        file["hard"] = file["g/points"]
        file["soft"], file["folder"] = h5py.SoftLink("/g/points"), h5py.SoftLink("/g")
        file["g/lon"], file["g/lat"] = h5py.SoftLink("x"), h5py.SoftLink("y")
        file["broken"] = h5py.SoftLink("/nowhere")
    for table in ("g/points", "hard", "soft", "/soft", "folder/points"):
        require_labels(epsflow.read_points(tmp_path / "x.h5", table=table))
    for table in ("g", "folder", "/folder/"):
        for columns in (["x", "y"], ["lon", "lat"]):
            require_labels(epsflow.read_points(tmp_path / "x.h5", columns, table))
    require_labels(epsflow.read_points(tmp_path / "x.h5", ["/folder/x", "g/lat"]))
    for table in ("broken", "nowhere"):
        with pytest.raises(ValueError, match="x.h5: say which array"):
            epsflow.read_points(tmp_path / "x.h5", table=table)
    with h5py.File(tmp_path / "one.h5", "w") as file:
        file["points"], file["link"] = POINTS, h5py.SoftLink("/points")
    require_labels(epsflow.read_points(tmp_path / "one.h5"))


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_columns_of_one_name(tmp_path, pandas, ending):
    file = tmp_path / f"x.{ending}"
    if ending == "csv":
        file.write_text("x,y,x\n1,2,3\n4,5,6\n")
    else:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table([[1, 4], [2, 5], [3, 6]], names=["x", "y", "x"])
        if ending == "parquet":
            write_arrow(file, table)
        else:  # write_feather() refuses the names
            with arrow.OSFile(str(file), "wb") as sink, arrow.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
    for columns in (None, [0, 1, 2]):
        X = epsflow.read_points(file, columns)
        assert list(X) == ["x", "y", "x"] and X.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert epsflow.read_points(file, [2, "y"]).to_numpy().tolist() == [[3, 2], [6, 5]]
    assert epsflow.read_points([file, file], [2, 0]).to_numpy().tolist() == [[3, 1], [6, 4]] * 2
    for name in ("x", " X"):
        words = f"x.{ending}: the columns 0 and 2 are both named '{name}': choose by number"
        with pytest.raises(ValueError, match=words):
            epsflow.read_points(file, [name, "y"])


def test_names_of_columns_in_upper_and_lower_case(read_text):
    for columns, row in ((["X", "y"], [2, 3]), (["x", "Y"], [1, 3])):
        assert read_text("x,X,Y\n1,2,3\n", columns).to_numpy().tolist() == [row]


def test_a_column_whose_name_begins_another(tmp_path, pandas):
    write_arrow(tmp_path / "x.parquet", {"x.y": [1.0], "x": [2.0]})
    assert epsflow.read_points(tmp_path / "x.parquet").to_numpy().tolist() == [[1, 2]]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("length", [-1, 2])
@pytest.mark.parametrize("number", ["float32", "float64", "int64"])
def test_numbers_of_lists_are_columns(tmp_path, pandas, arrow, ending, length, number):
    vectors = arrow.array([[1, 2], [3, 4], None, [5, None]], arrow.list_(arrow.type_for_alias(number), length))
    read = {}
    for name, part in (("whole", vectors[:2]), ("gaps", vectors)):
        file = tmp_path / f"{name}.{ending}"
        write_arrow(file, {"v": part, "z": np.arange(len(part)) + 6.0})
        read[name] = epsflow.read_points(file)
        assert list(read[name]) == ["v[0]", "v[1]", "z"]
        assert list(epsflow.read_points(file, ["z", "v[1]"])) == ["z", "v[1]"]
        with pytest.raises(ValueError, match=r"column 'v' has lists of numbers: name these, as v\[0\]"):
            epsflow.read_points(file, ["v"])
    assert read["whole"].to_numpy().tolist() == [[1, 2, 6], [3, 4, 7]] and str(read["whole"]["v[0]"].dtype) == number
    np.testing.assert_array_equal(read["gaps"], [[1, 2, 6], [3, 4, 7], [np.nan, np.nan, 8], [5, np.nan, 9]])


@pytest.mark.parametrize("lists, kind, words", [
    ([[1], [2, 3]], None, "column 'v' has lists of 1 and of 2 values"),
    ([[2**53 + 1], None], None, "9007199254740993"),
    ([None, None], "list", "all of its rows are missing"),
    ([["a", None], ["b"]], None, "lists of string, which are no numbers"),
    ([[True, None], [False]], None, "lists of bool, which are no numbers"),
    ([[[1.0]], None], None, "which are no numbers"),
])
def test_lists_that_are_no_coordinates(tmp_path, pandas, arrow, lists, kind, words):
    file = tmp_path / "x.parquet"
    write_arrow(file, {"v": arrow.array(lists, arrow.list_(arrow.float64()) if kind else None), "z": [6.0, 7.0]})
    with pytest.raises(ValueError, match=words):
        epsflow.read_points(file)
    for columns in (["z"], [-1]):
        assert epsflow.read_points(file, columns).to_numpy().tolist() == [[6], [7]]


def test_lists_of_a_fixed_length_have_their_columns_without_a_list(tmp_path, pandas, arrow):
    files = [tmp_path / f"{name}.parquet" for name in ("empty", "missing", "whole")]
    for file, lists in zip(files, ([], [None], [[1.0, 2.0]])):
        write_arrow(file, {" v": arrow.array(lists, arrow.list_(arrow.float64(), 2))})
    X = epsflow.read_points(files)
    assert list(X) == [" v[0]", " v[1]"]
    np.testing.assert_array_equal(X, [[np.nan, np.nan], [1, 2]])
    assert epsflow.read_points(files[-1], [" v[1]"]).to_numpy().tolist() == [[2]]


@pytest.mark.parametrize("name", [None, "id"])
def test_the_index_of_a_frame_is_no_coordinate(tmp_path, pandas, arrow, name):
    frame = pandas.DataFrame({"x": [1.0, 2], "y": [3.0, 4]}, index=pandas.Index([5, 7], name=name))
    table = arrow.Table.from_pandas(frame)
    shown = name or "__index_level_0__"
    for file in (tmp_path / "x.parquet", tmp_path / "x.feather"):
        write_arrow(file, table)
        X = epsflow.read_points(file)
        assert list(X) == ["x", "y"] and X.to_numpy().tolist() == [[1, 3], [2, 4]]
        assert epsflow.read_points(file, -1).to_numpy().tolist() == [[3], [4]]
        assert epsflow.read_points(file, ["x", shown]).to_numpy().tolist() == [[1, 5], [2, 7]]


def test_without_pandas_tables_are_arrays(tmp_path, monkeypatch):
    files = [tmp_path / f"x.{ending}" for ending in ("npy", "npz", "parquet", "fits")]
    for file in files:
        KINDS[file.suffix[1:]][0](file)
    (tmp_path / "x.csv").write_text("x,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for file in files:
        X = epsflow.read_points(file, ["x", "y"])
        assert type(X) is np.ndarray
        require_labels(X)
    with pytest.raises(ImportError, match="x.csv takes pandas, which is not there: pip install pandas"):
        epsflow.read_points(tmp_path / "x.csv")


@pytest.mark.parametrize(
    "ending, library", [("h5", "h5py"), ("fits", "astropy"), ("parquet", "pyarrow"), ("feather", "pyarrow")]
)
def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch, ending, library):
    KINDS[ending][0](tmp_path / f"x.{ending}")
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"x.{ending} takes {library}, which is not there: pip install {library}"):
        epsflow.read_points(tmp_path / f"x.{ending}", ["x", "y"])


def test_several_files(tmp_path, pandas):
    a, b, c, array = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv", "x.npy"))
    a.write_text("x,y\n1,2\n")
    b.write_text("x,z\n3,4\n")
    c.write_text("5,6\n7,8\n")
    np.save(array, POINTS)
    joined = epsflow.read_points([a, b], [0, 1])
    assert joined.to_numpy().tolist() == [[1, 2], [3, 4]] and list(joined) == ["x", "y"]
    for files, columns, words in (
        ([a, b], None, "b.csv has the columns .*a.csv has .*columns="),
        ([a, c], [0, 1], "c.csv has the columns"),
        ([c, array], None, "x.npy is NPY, and .*c.csv is text: read the files of each kind by themselves"),
        ([], None, "files is empty"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.read_points(files, columns)
    np.save(tmp_path / "single.npy", POINTS.astype(np.float32))
    np.save(tmp_path / "double.npy", POINTS)
    assert epsflow.read_points([tmp_path / "single.npy"] * 2).dtype == np.float32
    assert epsflow.read_points([tmp_path / "single.npy", tmp_path / "double.npy"]).dtype == np.float64


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"x,y\n1,2\n", {"columns": ["x", "z"]}, "column 'z' is not there"),
        (b"x,y\n1,2\n", {"columns": ["x", 0]}, "column 0 is given twice"),
        (b"x,y\n1,2\n", {"columns": 2}, "column 2 is not there"),
        (b"x,y\n1,2\n", {"columns": 0.5}, "0.5"),
        (b"x,y\n1,2\n", {"table": "t"}, "it is of a kind whose reader got an unexpected keyword argument 'table'"),
        (b"\x93NUMPY\1\0v", {"sep": ","}, "it is of a kind whose reader got an unexpected keyword argument 'sep'"),
        (b"x,y\n1,2\n", {"dims": 2},
         "dims= is of raw floats, whose names end in .raw, .bin, .f32, .f64, and it is text"),
        (b"\x93NUMPY\1\0v", {"precision": "float32"}, "precision= is of raw floats.*it is NPY"),
        (b"x,y\n1,2\n", {"columns": []}, "no column is read"),
        (b"X,x,x.1\n1,2,3\n", {"columns": "x.2"}, "column 'x.2' is not there"),
        (b"x,y\n1,2\n", {"skiprows": [0]}, r"skiprows=\[0\] is no number of lines"),
        (b"x,y\n1,2\n", {"skiprows": -1}, "skiprows=-1 is no number of lines"),
        (b"x,y\n1,2\n", {"skiprows": 2.0}, "skiprows=2.0 is no number of lines"),
        (b"x,y\n1,2", {"skiprows": 5}, "."),
        (b"x,y\n1,2\n", {"chunksize": 1}, "chunksize= reads a file in parts"),
        (b"x,y\n1,2\n", {"iterator": True}, "iterator= reads a file in parts"),
        (b"x,y\n1,2\n3,4,5\n", {}, "."),
        (b"0,1\n0.5,2\n", {}, "header=None or header=0"),
        (b"", {}, "."),
        (b"\0\1\2", {}, "dims="),
        (b"\x93NUMPY\1\0v", {}, "."),
        (b"PK\3\4 and nothing more", {}, "."),
        (b"SIMPLE  = and nothing more", {}, "."),
        (b"\x89HDF\r\n\x1a\n and nothing more", {}, "."),
        (b"PAR1 and nothing more", {}, "."),
        (b"ARROW1 and nothing more", {}, "."),
        (b"\x1f\x8b and nothing more", {}, "."),
    ],
)
def test_what_cannot_be_read_names_the_file(tmp_path, pandas, h5py, arrow, content, options, words):
    pytest.importorskip("astropy")
    (tmp_path / "points").write_bytes(content)
    with pytest.raises((ValueError, TypeError), match=f"points: .*{words}"):
        epsflow.read_points(tmp_path / "points", **options)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.csv"):
        epsflow.read_points(tmp_path / "nowhere.csv")
    with pytest.raises(IsADirectoryError):
        epsflow.read_points(tmp_path)
