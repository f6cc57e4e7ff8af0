"""Invalid parameters are refused before a run: errors give their names, their values and the valid values."""

from __future__ import annotations

import inspect
import re
import sys

import numpy as np
import pytest

import epsflow
from epsflow._gpu_arrays import OUTPUTS
from epsflow._metrics import as_metric
from epsflow._parameters import OPTIONS, as_bytes, as_threads

X = np.zeros((4, 2))


def engine(**parameters):
    return lambda: epsflow.Engine(**parameters)


def sweep(eps=0.1, min_samples=4, **parameters):
    return lambda: epsflow.sweep(X, eps, min_samples, **parameters)


def fit(**parameters):
    return lambda: epsflow.DBSCAN(**parameters).fit(X)


def find(**parameters):
    return lambda: epsflow.AutoDBSCAN(**parameters).fit(X)


def unexpected(method, parameter):
    # Before Python 3.10, the message has the name from the method's definition.
    return f"Dataset.{method}() " * (sys.version_info >= (3, 10)) + f"got an unexpected keyword argument '{parameter}'"


WRONG = [
    (engine(memory=2**70), ValueError, f"memory == {2**70}, must be >= 1 and at most {2**63 - 1}"),
    (engine(memory=-1), ValueError, "memory == -1, must be >= 1"),
    (engine(memory="lots"), ValueError,
     "memory == 'lots' is no size; it is a number of bytes or a text such as '8GiB'"),
    (engine(memory=1e9), TypeError,
     "memory is 1000000000.0, of type float; it is a number of bytes or a text such as '8GiB'"),
    (engine(memory=True), TypeError, "memory is True, of type bool"),
    (engine(gpu_memory=[1]), TypeError, "gpu_memory is [1], of type list"),
    (engine(gpu="0"), TypeError, "gpu is '0', of type str; it is a whole number >= 0, or None for any"),
    (engine(gpu=-1), ValueError, "gpu == -1, must be >= 0"),
    (engine(backend=None), TypeError, "backend is None, of type NoneType; it is a text, 'auto' where it is left open"),
    (engine(backend="tpu"), ValueError, "backend='tpu' is none of 'auto', 'cpu', 'gpu'"),
    (engine(threads="2"), TypeError,
     "threads is '2', of type str; it is a whole number >= 1, or None for one per core"),
    (engine(threads=-2), ValueError, "threads == -2, must be >= 1"),
    (engine(threads=2**40), ValueError, f"threads == {2**40}, must be >= 1 and at most 4096"),
    (sweep(threads="2"), TypeError, "threads is '2'"),
    (sweep(engine="gpu"), TypeError, "engine is 'gpu', of type str; it is an epsflow.Engine"),
    (sweep(strategy=None), TypeError, "strategy is None"),
    (sweep(decide="scalars"), ValueError, "decide='scalars' is none of 'auto', 'scalar'"),
    (sweep(eps="0.1"), TypeError, "eps is '0.1', of type str; it is a number > 0"),
    (sweep(eps=[0.1, None]), TypeError, "eps is None, of type NoneType"),
    (sweep(eps=np.timedelta64(1, "s")), TypeError, f"eps is {np.timedelta64(1, 's')!r}, of type timedelta64"),
    (sweep(eps=[0.1, -1]), ValueError, "eps == -1, must be > 0 and finite"),
    (sweep(eps=float("nan")), ValueError, "eps == nan"),
    (sweep(eps=10**400), ValueError, "must be > 0 and finite"),
    (sweep(eps=range(1, 10_001), min_samples=range(1, 1002)), ValueError,
     "10000 eps with 1001 min_samples each are more than the 10000000"),
    (sweep(eps=1e-165), ValueError, "eps 1e-165 is too small for float64"),
    (sweep(min_samples="4"), TypeError, "min_samples is '4', of type str; it is a whole number >= 1"),
    (sweep(min_samples=[4, 2.5]), TypeError, "min_samples is 2.5, of type float"),
    (sweep(min_samples=2**40), ValueError, f"min_samples == {2**40}, must be >= 1 and at most {2**32 - 1}"),
    (sweep(None, None, variants=5), TypeError, "variants has 5; it lists pairs (eps, min_samples)"),
    (sweep(None, None, variants=[(0.1, 4, 1)]), TypeError, "variants has (0.1, 4, 1); it lists pairs"),
    (lambda: epsflow.neighbors(X, "0.1"), TypeError, "eps is '0.1'"),
    (lambda: epsflow.Engine("cpu").load(X).neighbors([0.1]), TypeError, "eps is [0.1], of type list"),
    (sweep(core="no"), TypeError, "core is 'no', of type str; it is True or False"),
    (sweep(metric="greatcircle", metric_params={"latitude_first": "no"}), TypeError,
     "latitude_first is 'no', of type str"),
    (lambda: epsflow.sweep(X, 0.1, 4).save("r", overwrite="no"), TypeError, "overwrite is 'no', of type str"),
    (lambda: epsflow.sweep(X, 0.1, 4).save(None), TypeError, "folder is None, of type NoneType; it is a path"),
    (lambda: epsflow.sweep(X, 0.1, 4).save("a\0b"), ValueError, "folder is 'a\\x00b', which is no name"),
    (lambda: epsflow.load("\ud800"), ValueError, "folder is '\\ud800', which is no name"),
    (lambda: epsflow.load("r", unfinished="no"), TypeError, "unfinished is 'no', of type str; it is True or False"),
    (engine(memory="\ud800GiB"), ValueError, "memory == '\\ud800GiB' is no size"),
    (sweep(strategy="\ud800"), ValueError, "strategy='\\ud800' is none of 'auto'"),
    (sweep(output="\ud800"), ValueError, "output='\\ud800' is none of 'numpy'"),
    (sweep(metric="\ud800"), ValueError, "metric='\\ud800' is not known; known are euclidean, "),
    (sweep(metric=["l1"]), ValueError, "metric=['l1'] is not known"),
    (sweep(metric="greatcircle", metric_params={"unit": "\ud800"}), ValueError,
     "unit='\\ud800' is none of 'deg', 'arcmin'"),
    (lambda: epsflow.load(""), ValueError, "folder is '', which is no name"),
    (lambda: epsflow.Engine("cpu").load(X).sweep(0.1, 4, metric="x"), TypeError, unexpected("sweep", "metric")),
    (lambda: epsflow.Engine("cpu").load(X).plan(0.1, 4, core=1), TypeError, unexpected("plan", "core")),
    (lambda: epsflow.Engine("cpu").load(X).neighbors(0.1, core=1), TypeError, unexpected("neighbors", "core")),
    (fit(eps="0.1"), TypeError, "eps is '0.1'"),
    (fit(min_samples=2.5), TypeError, "min_samples is 2.5"),
    (fit(engine=0), TypeError, "engine is 0, of type int"),
    (fit(n_jobs="2"), TypeError, "n_jobs is '2', of type str"),
    (sweep(keep="core"), ValueError, "keep='core' is none of 'labels', 'summary'"),
    (lambda: epsflow.lineage(X, 1, 4, keep="labels"), ValueError, "keep='labels' is none of 'summary', 'core'"),
    (lambda: epsflow.Engine("cpu").load(X).lineage(1, 4, keep=None), TypeError,
     "keep is None, of type NoneType; it is a text, 'summary'"),
    (sweep(keep=True), TypeError, "keep is True, of type bool; it is a text, 'labels' where it is left open"),
    (sweep(keep="summary", core=True, output="torch"), ValueError, "core and output beside keep='summary'"),
    (sweep(lineage="yes"), TypeError, "lineage is 'yes', of type str; it is True or False"),
    (lambda: epsflow.lineage(X, 1, 4, strategy="x"), ValueError, "strategy='x' is none of 'auto', 'table', 'direct'"),
    (lambda: epsflow.lineage(X), TypeError, "a sweep needs eps and min_samples"),
    (lambda: epsflow.explore(X, "0.1"), TypeError, "eps is '0.1'"),
    (lambda: epsflow.explore(X, [1, 2], 0), ValueError, "min_samples == 0, must be >= 1"),
    (lambda: epsflow.explore(X, threads="2"), TypeError, "threads is '2'"),
    (lambda: epsflow.suggest(X, memory="lots"), ValueError, "memory == 'lots'"),
    (find(backend=None), TypeError, "backend is None"),
    (find(n_jobs=0), ValueError, "n_jobs == 0, must be >= 1"),
    (find(metric_params={"p": 2}, metric="cosine"), ValueError, "'p' is no parameter of 'cosine'"),
]


@pytest.mark.parametrize("call, error, words", WRONG, ids=[f"{i}: {words}" for i, (_, _, words) in enumerate(WRONG)])
def test_refused(call, error, words):
    with pytest.raises(error) as refused:
        call()
    assert words in str(refused.value)


def test_accepted():
    assert [as_bytes(m) for m in (None, 5, np.int64(5), "1.5 GiB", "500MB", "7", "2 kB")] == [
        0, 5, 5, 3 * 2**29, 5 * 10**8, 7, 2000
    ]
    assert [as_bytes(m) for m in ("8G", "8g", " 8 GiB ", "8GB", "8gb")] == 3 * [8 * 2**30] + 2 * [8 * 10**9]
    assert [as_threads(t) for t in (None, -1, 3, np.int32(2))] == [0, 0, 3, 2]
    assert len(epsflow.sweep(X, np.float32(0.1), np.int16(4))) == 1
    assert len(epsflow.sweep(X, (e for e in (0.1, 0.2, 0.1)), range(2, 4))) == 4
    assert len(epsflow.sweep(X, variants=iter([(0.1, 4), [0.2, 3]]))) == 2
    assert epsflow.DBSCAN(n_jobs=-2).fit(X).labels_.tolist() == [-1] * 4


def documented(function) -> dict[str, list[str]]:
    """Returns the words in braces of each parameter that has some."""
    found = re.findall(r"^ *(\w+(?:, \w+)*) : \{(.*)\}", function.__doc__ or "", re.MULTILINE)
    return {name: re.findall(r'"(.*?)"', words) for names, words in found for name in names.split(", ")}


DOCUMENTED = [
    epsflow.sweep, epsflow.plan, epsflow.lineage, epsflow.explore, epsflow.suggest, epsflow.k_distance,
    epsflow.neighbors, epsflow.hierarchy, epsflow.Engine, epsflow.Engine.load,
    epsflow.DBSCAN, epsflow.AutoDBSCAN,
]  # fmt: skip


# Functions accept only some of the library's words: a sweep needs counts of noise, and a lineage has no labels.
KEPT = {epsflow.sweep: ("labels", "summary"), epsflow.lineage: ("summary", "core")}


@pytest.mark.parametrize("function", DOCUMENTED)
def test_signatures_and_docstrings_say_what_the_library_says(function):
    known = [name for name in inspect.signature(function).parameters if name in OPTIONS]
    assert known
    for name in known:
        option, standard = OPTIONS[name], inspect.signature(function).parameters[name].default
        if name == "output":  # the words are names of array libraries
            assert (option.words, option.default, standard) == (["host", "device"], "host", "numpy")
            assert documented(function)[name] == list(OUTPUTS)
        elif name == "keep" and function in KEPT:
            assert (option.words, option.default) == (["labels", "summary", "core"], "labels")
            assert documented(function)[name] == list(KEPT[function]) and standard == KEPT[function][0]
        elif option.kind == "choice":
            assert standard == option.default
            assert documented(function).get(name) in (option.words, None)
            assert name in documented(function) or re.search(
                rf"^ *([\w, ]+, )?{name}(, [\w, ]+)?(\n|, .*\n) +.*epsflow.sweep", function.__doc__, re.MULTILINE
            )
        else:
            assert standard is (False if option.kind == "flag" else None)


def test_every_word_of_the_library_is_documented():
    everywhere = {**documented(epsflow.Engine), **documented(epsflow.sweep)}
    assert {name for name, option in OPTIONS.items() if option.kind == "choice"} - set(everywhere) == {"unit"}
    assert [word for word in OPTIONS["unit"].words if f'"{word}"' not in epsflow.sweep.__doc__] == []
    other_names = {word for word in OPTIONS["metric"].words if as_metric(word).name != word}
    assert other_names == {"l1", "l2", "cityblock", "minkowski"}
    assert as_metric("infinity").name == "chebyshev"


def test_names_of_columns_may_be_any_text():
    pandas = pytest.importorskip("pandas")
    half = "\ud800"  # half of a surrogate pair
    X = pandas.DataFrame(np.arange(9.0).reshape(3, 3), columns=pandas.Index(["lat", half, "lon"], dtype=object))
    expected = epsflow.sweep(np.arange(9.0).reshape(3, 3)[:, [2, 0]], 5, 2, metric="greatcircle")[0].labels
    np.testing.assert_array_equal(epsflow.sweep(X, 5, 2, metric="greatcircle")[0].labels, expected)
    X.columns = pandas.Index(["lat", half, "lat"], dtype=object)
    with pytest.raises(ValueError, match="longitude"):
        epsflow.sweep(X, 1, 2, metric="greatcircle")
