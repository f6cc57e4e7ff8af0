"""Compares lineages of sweeps with labels and core points of the same sweeps."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from checks import check_attributes, check_refused, check_same_tables, columns

import epsflow

EPS = [0.05, 0.1, 0.2, 0.4, 0.8]
MIN_SAMPLES = [2, 3, 5, 9]
PARENTS = ("parent_eps", "parent_min_samples")


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    random = np.random.default_rng(3)
    centres = random.uniform(-3, 3, size=(6, 2))
    return np.concatenate([centre + random.normal(scale=0.3, size=(50, 2)) for centre in centres])


# Points on a line, in three groups. At min_samples=2 the first two groups join at eps 2, and all of them at eps 4. At
# min_samples=3 the second group has no core point at eps 1.
LINE = np.array([0.0, 1, 2, 3, 5, 6, 10, 11, 12])[:, None]


def test_clusters_lie_where_labels_and_core_points_say(blobs):
    result = epsflow.sweep(blobs, EPS, MIN_SAMPLES, core=True)
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    assert len(lineage) == len(result) == len(EPS) * len(MIN_SAMPLES)
    assert lineage.variants == [(v.eps, v.min_samples) for v in result]
    summary = columns(lineage.summary)
    for column, values in summary.items():
        assert values.tolist() == [getattr(v, column) for v in result]
    table = columns(lineage.clusters)
    assert {column: values.dtype.kind for column, values in table.items()} == {
        "eps": "f",
        **dict.fromkeys(("min_samples", "cluster", "first_core", "n_core", "size", *PARENTS), "i"),
    }
    assert len(table["eps"]) == sum(v.n_clusters for v in result)
    rows = zip(*(values.tolist() for values in table.values()))
    for v in result:
        for k in range(v.n_clusters):
            core = np.flatnonzero(v.core & (v.labels == k))
            assert next(rows)[:6] == (v.eps, v.min_samples, k, core[0], len(core), (v.labels == k).sum())


def test_clusters_are_in_those_of_looser_variants():
    lineage = epsflow.lineage(LINE, [1, 2, 4], [2, 3])
    table = columns(lineage.clusters)
    assert list(zip(*(table[name].tolist() for name in ("eps", "min_samples", *PARENTS)))) == [
        (1, 2, 0, -1), (1, 2, 0, -1), (1, 2, 1, -1), (1, 3, 0, 0), (1, 3, 1, 2), (2, 2, 0, -1), (2, 2, 0, -1),
        (2, 3, 0, 0), (2, 3, 0, 1), (4, 2, -1, -1), (4, 3, -1, 0),
    ]  # fmt: skip
    for inner, outer, holders in (
        ((1, 2), (1, 2), [0, 1, 2]), ((1, 2), (2, 2), [0, 0, 1]), ((1, 3), (1, 2), [0, 2]), ((1, 3), (2, 2), [0, 1]),
        ((1, 3), (4, 2), [0, 0]),
    ):
        assert lineage.ancestors(inner, outer).tolist() == holders
        assert lineage.rank(inner, outer) == len(set(holders))


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("path", "bars"),  # birth, death, their indices, cluster, core points, points and first core point of each bar
    [
        ({"min_samples": 2}, [(1, INF, 0, 3, 0, 9, 9, 0), (1, 2, 0, 1, 1, 2, 2, 4), (1, 4, 0, 2, 1, 3, 3, 6)]),
        ({"min_samples": 3}, [(1, INF, 0, 3, 0, 9, 9, 1), (1, 4, 0, 2, 1, 3, 3, 7)]),
        ({"eps": 1}, [(3, NAN, 0, 2, 0, 4, 4, 1), (3, NAN, 0, 2, 2, 3, 3, 7), (2, NAN, 1, 2, 1, 2, 2, 4)]),
        ({"path": iter([(1, 3), (2, 2)])}, [(1, INF, 0, 2, 0, 6, 6, 1), (1, INF, 0, 2, 1, 3, 3, 7)]),
    ],
)
def test_bars_follow_the_elder_rule(path, bars):
    lineage = epsflow.lineage(LINE, [4, 2, 1], [2, 3])  # the order differs from the paths' order
    table = columns(lineage.bars(**path))
    names = ("birth", "death", "birth_place", "death_place", "cluster", "n_core", "size", "first_core")
    np.testing.assert_array_equal(np.column_stack([table[name] for name in names]), bars)


def test_a_list_of_variants_has_ties_where_it_has_variants():
    variants = [(2, 4), (3, 3), (4, 4), (2, 2), (4, 2)]
    lineage = epsflow.lineage(LINE, variants=variants)
    assert lineage.variants == variants
    assert lineage.ancestors((2, 4), (2, 2)).tolist() == [0] and lineage.ancestors((2, 2), (4, 2)).tolist() == [0, 0]
    check_refused(
        (lambda: lineage.ancestors((2, 4), (3, 3)), ValueError, r"no way from \(2, 4\) to \(3, 3\)"),
        (lambda: lineage.rank((4, 4), (2, 4)), ValueError, "ask for .* no smaller eps and no larger min_samples"),
        (lambda: lineage.bars(path=[(4, 2), (2, 2)]), ValueError, "no smaller eps"),
    )


def test_what_is_not_there(blobs):
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    assert lineage.rank((0.1 + 1e-12, 5), (0.4, 5)) == lineage.rank((0.1, 5), (0.4, 5))
    for call in (
        lambda: lineage.ancestors((0.3, 5), (0.4, 5)),
        lambda: lineage.rank((0.1, 5), (0.4, 4)),
        lambda: lineage.bars(min_samples=4),
        lambda: lineage.bars(eps=0.3),
        lambda: lineage.bars(path=[(0.1, 5), (0.4, 4)]),
    ):
        with pytest.raises(KeyError, match="none of the variants"):
            call()
    for given in ({}, {"eps": 0.1, "min_samples": 5}):
        with pytest.raises(TypeError, match="one of min_samples, eps and path"):
            lineage.bars(**given)


def test_of_weights_and_of_a_box(blobs):
    weights = np.random.default_rng(5).uniform(0.1, 2, size=len(blobs))
    params = {"metric_params": {"box": [[-4, 4], None]}, "sample_weight": weights}
    result = epsflow.sweep(blobs, EPS, MIN_SAMPLES, core=True, **params)
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES, **params)
    for column, values in columns(lineage.summary).items():
        assert values.tolist() == [getattr(v, column) for v in result]


def test_of_no_points_and_of_no_clusters():
    none = epsflow.lineage(np.empty((0, 2)), [1, 2], [1, 2])
    assert (len(none), len(none.clusters), len(none.bars(min_samples=1))) == (4, 0, 0)
    assert epsflow.lineage([[1.0, 2.0]], [1, 2], [1, 2]).rank((1, 2), (2, 2)) == 0


def test_a_data_set_has_a_lineage(blobs):
    data = epsflow.Engine("cpu", threads=1).load(blobs)
    seen: list[epsflow.Progress] = []
    lineage = data.lineage(EPS, MIN_SAMPLES, progress=seen.append)
    assert repr(lineage) == f"<epsflow.Lineage of 20 variants, {len(lineage.clusters)} clusters>"
    assert seen and seen[-1].variants == 20
    with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'core'"):
        data.lineage(EPS, MIN_SAMPLES, core=True)


def check_same_lineage(found, expected):
    assert found.variants == expected.variants
    check_same_tables(
        (found.clusters, expected.clusters), (found.bars(eps=0.2), expected.bars(eps=0.2)),
        (found.summary, expected.summary),
    )


def test_damaged_tables_make_no_lineage(blobs):
    from epsflow import _core

    make, (eps, figures, clusters, _) = epsflow.lineage(blobs, EPS, MIN_SAMPLES).__reduce__()
    assert len(make(eps, figures, clusters, None)) == 20
    for damage in (
        lambda e, f, c: (e[1:], f, c),
        lambda e, f, c: (e, f[:, 1:], c),
        lambda e, f, c: (e, f, c[1:]),
        lambda e, f, c: (e, f, np.where(c == 0, 10**9, c)),
        lambda e, f, c: (e, f, -2 - c),
        lambda e, f, c: (e, np.where(np.arange(8) == 6, 0, f), c),
        lambda e, f, c: (e, np.where(np.arange(8) == 1, 2**62, f), c),
    ):
        with pytest.raises(ValueError):
            make(*damage(eps, figures, clusters), None)
    with pytest.raises(TypeError):
        _core.lineage_of(eps, figures.astype(np.float64), clusters)


def test_tables_without_pandas(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    for table in (lineage.summary, lineage.clusters, lineage.bars(min_samples=3)):
        assert isinstance(table, np.ndarray) and table.dtype.names is not None


def test_a_sweep_with_its_lineage(blobs):
    alone = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    plain = epsflow.sweep(blobs, EPS, MIN_SAMPLES, core=True)
    assert plain.lineage is None
    both = epsflow.sweep(blobs, EPS, MIN_SAMPLES, core=True, lineage=True)
    counts = epsflow.Engine("cpu").load(blobs).sweep(EPS, MIN_SAMPLES, keep="summary", lineage=True)
    for result in (both, counts, pickle.loads(pickle.dumps(both))):
        check_same_lineage(result.lineage, alone)
    for v, expected in zip(both, plain):
        check_attributes(v, expected, "labels", "core")


def test_core_points_alone(blobs):
    whole = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    made = epsflow.lineage(blobs, EPS, MIN_SAMPLES, keep="core")
    for found in (made, pickle.loads(pickle.dumps(made))):
        assert found.variants == whole.variants and repr(found) == repr(whole)
        for ours, theirs, left_out in (
            (found.summary, whole.summary, {"n_noise", "n_border", "largest"}),
            (found.clusters, whole.clusters, {"size"}),
            (found.bars(min_samples=3), whole.bars(min_samples=3), {"size"}),
        ):
            ours, theirs = columns(ours), columns(theirs)
            assert set(theirs) - set(ours) == left_out
            for name, values in ours.items():
                np.testing.assert_array_equal(values, theirs[name])
        with pytest.raises(ValueError, match="keep='core' counts core points alone"):
            found.relative_validity()


def test_counts_alone(blobs, tmp_path):
    plain = epsflow.sweep(blobs, EPS, MIN_SAMPLES)
    counts = epsflow.sweep(blobs, EPS, MIN_SAMPLES, keep="summary")
    for column, values in columns(counts.summary).items():
        if column != "seconds":
            np.testing.assert_array_equal(values, columns(plain.summary)[column])
    again = pickle.loads(pickle.dumps(counts))
    assert again.variant(0.1, 3).n_clusters == counts.variant(0.1, 3).n_clusters and again.input["points"] == len(blobs)
    words = r"keep='summary', and no labels: .* epsflow.sweep\(X, (0.1, 3|0.05, 2)\), .* keep='labels'"
    for call in (
        lambda: counts.variant(0.1, 3).labels,
        lambda: counts.variant(0.1, 3).core,
        lambda: again.labels(0.1, 3),
        lambda: counts.labelled(0.1, 3),
        lambda: counts.save(tmp_path / "r"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    for given, words in (
        ({"core": True, "keep": "summary"}, "^core beside keep='summary'"),
        ({"output": "torch", "keep": "summary"}, "^output beside keep='summary'"),
        ({"metric": "precomputed", "keep": "summary"}, "^keep beside metric='precomputed'"),
        ({"metric": "precomputed", "lineage": True}, "^lineage beside metric='precomputed'"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.sweep(np.zeros((4, 4)), 0.1, 2, **given)
    with pytest.raises(ValueError, match="here points are searched"):
        epsflow.lineage(np.zeros((4, 4)), 0.1, 2, metric="precomputed")


def test_relative_validity_compares_where_clusters_join():
    found = epsflow.lineage(LINE, [1, 2, 4], [2, 3]).relative_validity()
    # Of 9 points, the last 3 are apart up to eps 2. At min_samples=3 so are the 4 points of the first group.
    np.testing.assert_allclose(found, [1.5 / 9, 3.5 / 9, 1.5 / 9, 0, np.nan, np.nan])


def test_a_folder_has_the_lineage_that_the_program_wrote(blobs, tmp_path, program):
    np.save(tmp_path / "x.npy", blobs)
    grid = ["--eps", ",".join(map(str, EPS)), "--minpts", ",".join(map(str, MIN_SAMPLES))]
    assert program("sweep", tmp_path / "x.npy", *grid, "--lineage", "--out", tmp_path / "r", "--quiet").returncode == 0
    stored, alone = epsflow.load(tmp_path / "r").lineage, epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    check_same_lineage(stored, alone)
    assert program("sweep", tmp_path / "x.npy", *grid, "--out", tmp_path / "plain", "--quiet").returncode == 0
    assert epsflow.load(tmp_path / "plain").lineage is None
    (tmp_path / "r" / "lineage.npz").write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"lineage\.npz"):
        epsflow.load(tmp_path / "r")
