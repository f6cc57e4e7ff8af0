"""Files give the points, and so the labels, that the program reads from them; each test skips where its library is absent.

The data of the golden files lie in the folder that EPSFLOW_TEST_DATA names; without it their tests skip.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
import warnings

import numpy as np
import pytest
from test_golden import FOLDER, variants_by_table

import epsflow

# Tenths, of which float64 has none, with an eps of a tenth: the labels tell how the last bit of each number was read.
POINTS = np.random.default_rng(11).integers(-40, 40, size=(2000, 2)) / 10
# SHA-256 of the int32 that `epsflow cluster points.csv --eps 0.1 --minpts 3 --out labels.npy` wrote.
LABELS = "36ab5901dd4e11025b4a0d399785bc614038b1ec84ce1b7f5ebf9b0bad990282"


def require_labels(X, expected=LABELS) -> None:
    found = epsflow.sweep(X, 0.1, 3, backend="cpu")[0].labels
    assert hashlib.sha256(found.astype("<i4").tobytes()).hexdigest() == expected


def text_of(sep, *before) -> str:
    return "\n".join([*before, *(sep.join(map(repr, row)) for row in POINTS.tolist())]) + "\n"


def columns_of() -> dict[str, np.ndarray]:
    return {"name": np.array(["a"] * len(POINTS)), "x": POINTS[:, 0].copy(), "id": np.arange(len(POINTS)), "y": POINTS[:, 1].copy()}


def write_text(path):
    path.write_text(text_of(",", "x,y"))


def write_npy(path):
    columns = columns_of()
    np.save(path, np.rec.fromarrays(list(columns.values()), names=list(columns)))


def write_npz(path):
    np.savez(path, **columns_of())


def write_fits(path):
    pytest.importorskip("astropy.table").Table(columns_of()).write(path, format="fits")


def write_hdf5(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        for name, values in columns_of().items():
            file[f"galaxies/{name}"] = values.astype("S") if name == "name" else values


def write_parquet(path):
    pytest.importorskip("pyarrow.parquet").write_table(pytest.importorskip("pyarrow").table(columns_of()), path)


def write_feather(path):
    pytest.importorskip("pyarrow.feather").write_feather(pytest.importorskip("pyarrow").table(columns_of()), str(path))


KINDS = {
    "csv": (write_text, None),
    "npy": (write_npy, None),
    "npz": (write_npz, None),
    "fits": (write_fits, 1),
    "h5": (write_hdf5, "galaxies"),
    "parquet": (write_parquet, None),
    "feather": (write_feather, None),
}


def needs_pandas():
    return pytest.importorskip("pandas")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ending", KINDS)
def test_every_kind_gives_the_labels_of_the_program(tmp_path, ending, packed):
    pandas = needs_pandas()
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


def test_numbers_of_text_are_read_to_the_last_bit(tmp_path):
    needs_pandas()
    values = np.random.default_rng(3).uniform(-300, 300, size=(20000, 2))
    (tmp_path / "x.txt").write_text("\n".join(f"{a!r} {b!r}" for a, b in values.tolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.txt"), values)


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
def test_what_text_says_of_itself(tmp_path, text, options):
    needs_pandas()
    file = tmp_path / "points.txt"
    file.write_text(text, encoding="utf-8")
    X = epsflow.read_points(file, **options)
    assert isinstance(X, np.ndarray) or [str(name).strip() for name in X] == ["x", "y"] or "header" in options
    np.testing.assert_array_equal(np.asarray(X), POINTS)
    file.write_bytes(text.replace("\n", "\r\n").encode())
    np.testing.assert_array_equal(np.asarray(epsflow.read_points(file, **options)), POINTS)


def test_one_column_with_decimal_commas(tmp_path):
    needs_pandas()
    (tmp_path / "x.csv").write_text("1,5\n2,5\n")
    assert epsflow.read_points(tmp_path / "x.csv", decimal=",").tolist() == [[1.5], [2.5]]


def test_gaps_and_whole_numbers_of_text(tmp_path):
    needs_pandas()
    file = tmp_path / "points.csv"
    file.write_text("name,x,y\n#5,1,2\nb #6,-,4\nc,5,#N/A\nd,7,8\n")
    X = epsflow.read_points(file, ["x", "y"])  # the row of "#5" is a comment
    np.testing.assert_array_equal(X.to_numpy(), [[np.nan, 4], [5, np.nan], [7, 8]])
    np.testing.assert_array_equal(epsflow.drop_missing(X)[0], [[7, 8]])
    file.write_text(f"x,y\n{2**53 + 1},1\n")
    with pytest.raises(ValueError, match="column 'x'.*2\\*\\*53"):
        epsflow.sweep(epsflow.read_points(file), 1, 1)


@pytest.mark.parametrize(("ending", "dtype"), [("f32", "<f4"), ("f64", "<f8"), ("raw", "<f8")])
def test_raw_floats(tmp_path, ending, dtype):
    file = tmp_path / f"points.{ending}"
    POINTS.astype(dtype).tofile(file)
    X = epsflow.read_points(file, dims=2)
    assert X.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(X, POINTS.astype(dtype))
    np.testing.assert_array_equal(epsflow.read_points([file, file], 1, dims=2)[: len(POINTS), 0], POINTS.astype(dtype)[:, 1])
    for options in ({}, {"dims": 2, "precision": "int32"}, {"dims": 3}):
        with pytest.raises(ValueError, match=f"points.{ending}: .*(dims|precision|reshape)"):
            epsflow.read_points(file, **options)


def test_raw_floats_are_named_so(tmp_path):
    for name in ("x.f32.gz", "x.BIN", "x.raw.GZ"):
        content = POINTS.astype("<f4").tobytes()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith("gz") else content)
        np.testing.assert_array_equal(epsflow.read_points(tmp_path / name, dims=2, precision="float32"), POINTS.astype("<f4"))
    POINTS.tofile(tmp_path / "x.dat")
    with pytest.raises(ValueError, match="x.dat: dims= is of raw floats, whose names end in .raw"):
        epsflow.read_points(tmp_path / "x.dat", dims=2)
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


def test_vectors_are_columns(tmp_path):
    pandas = needs_pandas()
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


def test_nulls_of_tables(tmp_path):
    needs_pandas()
    arrow = pytest.importorskip("pyarrow")
    big = arrow.table({"x": [1.5, 2.5, None], "n": [2**53 + 1, None, 3], "s": ["a", None, "c"]})
    pytest.importorskip("pyarrow.parquet").write_table(big, tmp_path / "x.parquet")
    X = epsflow.read_points(tmp_path / "x.parquet")
    assert np.isnan(X["x"][2]) and X["n"][0] == 2**53 + 1 and X["s"][0] == "a"
    with pytest.raises(ValueError, match="'n'.*2\\*\\*53"):
        epsflow.drop_missing(X[["x", "n"]])
    table = pytest.importorskip("astropy.table")
    masked = table.MaskedColumn([1, 2, 3], mask=[False, True, False])
    table.Table({"x": [1.0, 2.0, np.nan], "n": masked}).write(tmp_path / "x.fits")
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "x.fits").to_numpy(), [[1, 1], [2, np.nan], [np.nan, 3]])


def test_units_and_further_tables_of_fits(tmp_path):
    needs_pandas()
    fits = pytest.importorskip("astropy.io.fits")
    column = fits.Column(name="RA", format="E", array=POINTS[:, 0], unit="furlong per fortnight")
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU.from_columns([column], name="A"), fits.BinTableHDU.from_columns([column, fits.Column(name="B", format="J", array=np.arange(len(POINTS)))], name="Second")]
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
            with pytest.raises(ValueError, match=f"{file}.fits: there is no table {wrong!r}: table= may choose of {shown}$"):
                epsflow.read_points(tmp_path / f"{file}.fits", table=wrong)
    fits.HDUList([fits.PrimaryHDU(POINTS)]).writeto(tmp_path / "image.fits")
    with pytest.raises(ValueError, match="image.fits: it has no table"):
        epsflow.read_points(tmp_path / "image.fits")


def test_nulls_of_scaled_numbers_of_fits(tmp_path):
    needs_pandas()
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
    np.testing.assert_array_equal(X["z"], [10.5, -9, 11.5, np.nan])  # -9 is no null where it is a scaled value
    np.testing.assert_array_equal(X["v[0]"], [10.5, -9, 11.5, np.nan])
    np.testing.assert_array_equal(X["v[1]"], [11, -8.5, 12, 6])
    np.testing.assert_array_equal(X["u"], [32769, 32730, 32771, np.nan])
    text = [fits.Column(name="x", format="F10.3", array=[1, -9, 3], null="-9.000"), fits.Column(name="y", format="I5", array=[1, 2, 3])]
    fits.TableHDU.from_columns(text).writeto(tmp_path / "text.fits")
    np.testing.assert_array_equal(epsflow.read_points(tmp_path / "text.fits").to_numpy(), [[1, 1], [np.nan, 2], [3, 3]])


def test_arrays_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
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


def test_links_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
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
def test_columns_of_one_name(tmp_path, ending):
    needs_pandas()
    file = tmp_path / f"x.{ending}"
    if ending == "csv":
        file.write_text("x,y,x\n1,2,3\n4,5,6\n")
    else:
        table = pytest.importorskip("pyarrow").table([[1, 4], [2, 5], [3, 6]], names=["x", "y", "x"])
        if ending == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, file)
        else:
            with sys.modules["pyarrow"].OSFile(str(file), "wb") as sink, sys.modules["pyarrow"].ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
    for columns in (None, [0, 1, 2]):
        X = epsflow.read_points(file, columns)
        assert list(X) == ["x", "y", "x"] and X.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert epsflow.read_points(file, [2, "y"]).to_numpy().tolist() == [[3, 2], [6, 5]]
    assert epsflow.read_points([file, file], [2, 0]).to_numpy().tolist() == [[3, 1], [6, 4]] * 2
    for name in ("x", " X"):
        with pytest.raises(ValueError, match=f"x.{ending}: the columns 0 and 2 are both named '{name}': choose by number"):
            epsflow.read_points(file, [name, "y"])


def test_names_of_columns_in_upper_and_lower_case(tmp_path):
    needs_pandas()
    (tmp_path / "x.csv").write_text("x,X,Y\n1,2,3\n")
    assert epsflow.read_points(tmp_path / "x.csv", ["X", "y"]).to_numpy().tolist() == [[2, 3]]
    assert epsflow.read_points(tmp_path / "x.csv", ["x", "Y"]).to_numpy().tolist() == [[1, 3]]


def test_a_column_whose_name_begins_another(tmp_path):
    needs_pandas()
    table = pytest.importorskip("pyarrow").table({"x.y": [1.0], "x": [2.0]})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "x.parquet")
    assert epsflow.read_points(tmp_path / "x.parquet").to_numpy().tolist() == [[1, 2]]


@pytest.mark.parametrize("name", [None, "id"])
def test_the_index_of_a_frame_is_no_coordinate(tmp_path, name):
    pandas = needs_pandas()
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": [1.0, 2], "y": [3.0, 4]}, index=pandas.Index([5, 7], name=name))
    table = arrow.Table.from_pandas(frame)
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "x.parquet")
    pytest.importorskip("pyarrow.feather").write_feather(table, str(tmp_path / "x.feather"))
    shown = name or "__index_level_0__"
    for file in (tmp_path / "x.parquet", tmp_path / "x.feather"):
        X = epsflow.read_points(file)
        assert list(X) == ["x", "y"] and X.to_numpy().tolist() == [[1, 3], [2, 4]]
        assert epsflow.read_points(file, -1).to_numpy().tolist() == [[3], [4]]
        assert epsflow.read_points(file, ["x", shown]).to_numpy().tolist() == [[1, 5], [2, 7]]


def test_without_pandas_tables_are_arrays(tmp_path, monkeypatch):
    for ending in ("npy", "npz", "parquet", "fits"):
        KINDS[ending][0](tmp_path / f"x.{ending}")
    (tmp_path / "x.csv").write_text("x,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for ending in ("npy", "npz", "parquet", "fits"):
        X = epsflow.read_points(tmp_path / f"x.{ending}", ["x", "y"])
        assert type(X) is np.ndarray
        require_labels(X)
    with pytest.raises(ImportError, match="x.csv takes pandas, which is not there: pip install pandas"):
        epsflow.read_points(tmp_path / "x.csv")


@pytest.mark.parametrize("ending, library", [("h5", "h5py"), ("fits", "astropy"), ("parquet", "pyarrow"), ("feather", "pyarrow")])
def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch, ending, library):
    KINDS[ending][0](tmp_path / f"x.{ending}")
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"x.{ending} takes {library}, which is not there: pip install {library}"):
        epsflow.read_points(tmp_path / f"x.{ending}", ["x", "y"])


def test_several_files(tmp_path):
    needs_pandas()
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n3,4\n")
    (tmp_path / "c.csv").write_text("5,6\n7,8\n")
    with pytest.raises(ValueError, match="b.csv has the columns .*a.csv has .*columns="):
        epsflow.read_points([tmp_path / "a.csv", tmp_path / "b.csv"])
    joined = epsflow.read_points([tmp_path / "a.csv", tmp_path / "b.csv"], [0, 1])
    assert joined.to_numpy().tolist() == [[1, 2], [3, 4]] and list(joined) == ["x", "y"]
    with pytest.raises(ValueError, match="c.csv has the columns"):
        epsflow.read_points([tmp_path / "a.csv", tmp_path / "c.csv"], [0, 1])
    with pytest.raises(ValueError, match="x.npy is NPY, and .*c.csv is text: read the files of each kind by themselves"):
        np.save(tmp_path / "x.npy", POINTS)
        epsflow.read_points([tmp_path / "c.csv", tmp_path / "x.npy"])
    with pytest.raises(ValueError, match="files is empty"):
        epsflow.read_points([])
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
        (b"x,y\n1,2\n", {"dims": 2}, "dims= is of raw floats, whose names end in .raw, .bin, .f32, .f64, and it is text"),
        (b"\x93NUMPY\1\0v", {"precision": "float32"}, "precision= is of raw floats.*it is NPY"),
        (b"x,y\n1,2\n", {"columns": []}, "no column is read"),
        (b"x,y,x\n1,2,3\n", {"columns": "x"}, "columns 0 and 2 are both named 'x'"),
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
def test_what_cannot_be_read_names_the_file(tmp_path, content, options, words):
    needs_pandas()
    for library in ("astropy", "h5py", "pyarrow"):
        pytest.importorskip(library)
    (tmp_path / "points").write_bytes(content)
    with pytest.raises((ValueError, TypeError), match=f"points: .*{words}"):
        epsflow.read_points(tmp_path / "points", **options)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.csv"):
        epsflow.read_points(tmp_path / "nowhere.csv")
    with pytest.raises(IsADirectoryError):
        epsflow.read_points(tmp_path)
