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


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    random = np.random.default_rng(3)
    centres = random.uniform(-3, 3, size=(6, 2))
    return np.concatenate([centre + random.normal(scale=0.3, size=(50, 2)) for centre in centres])


@pytest.fixture(scope="module")
def quantised() -> np.ndarray:
    return np.random.default_rng(4).integers(0, 30, size=(250, 2)) * 0.1


def holders_by_labels(inner, outer) -> list[int]:
    """Returns the cluster of outer that contains the core points of each cluster of inner."""
    found = []
    for k in range(inner.n_clusters):
        holders = np.unique(outer.labels[inner.core & (inner.labels == k)])
        assert len(holders) == 1 and holders[0] >= 0
        found.append(int(holders[0]))
    return found


def lives_by_labels(path) -> list[tuple[int, ...]]:
    """Applies the elder rule to labels: birth, death, cluster, core points, points, first core point of each bar."""
    lives: list[list[int]] = []
    living: dict[int, int] = {}
    for place, variant in enumerate(path):
        arriving: dict[int, list[int]] = {k: [] for k in range(variant.n_clusters)}
        if place > 0:
            for k, holder in enumerate(holders_by_labels(path[place - 1], variant)):
                arriving[holder].append(living[k])
        living = {}
        for k, arrived in arriving.items():
            core = np.flatnonzero(variant.core & (variant.labels == k))
            if arrived:
                eldest, *others = sorted(arrived, key=lambda i: (lives[i][0], -lives[i][3], lives[i][5]))
                for other in others:
                    lives[other][1] = place
            else:
                eldest = len(lives)
                lives.append([place, len(path), 0, 0, 0, int(core[0])])
            lives[eldest][2:5] = [k, len(core), int((variant.labels == k).sum())]
            living[k] = eldest
    return [tuple(life) for life in lives]


def check_lives(lives, path, values, never) -> dict[str, np.ndarray]:
    """Compares lives with labels, and their births and deaths with the values along the path. Returns their columns."""
    table, expected = columns(lives), lives_by_labels(path)
    names = ("birth_place", "death_place", "cluster", "n_core", "size", "first_core")
    assert list(zip(*(table[name].tolist() for name in names))) == expected
    assert table["birth"].tolist() == [values[life[0]] for life in expected]
    np.testing.assert_array_equal(table["death"], [(*values, never)[life[1]] for life in expected])
    return table


@pytest.mark.parametrize("name", ["blobs", "quantised"])
@pytest.mark.parametrize("strategy", ["direct", "table"])
def test_clusters_lie_where_labels_and_core_points_say(name, strategy, request):
    X = request.getfixturevalue(name)
    result = epsflow.sweep(X, EPS, MIN_SAMPLES, core=True)
    lineage = epsflow.lineage(X, EPS, MIN_SAMPLES, strategy=strategy)
    assert len(lineage) == len(result) == len(EPS) * len(MIN_SAMPLES)
    assert lineage.variants == [(v.eps, v.min_samples) for v in result]
    summary = columns(lineage.summary)
    for column, values in summary.items():
        assert values.tolist() == [getattr(v, column) for v in result]
    table = columns(lineage.clusters)
    assert {column: values.dtype.kind for column, values in table.items()} == {
        "eps": "f",
        **dict.fromkeys(("min_samples", "cluster", "first_core", "n_core", "size", "in_wider", "in_looser"), "i"),
    }
    assert len(table["eps"]) == sum(v.n_clusters for v in result)
    row = 0
    for v in result:
        for k in range(v.n_clusters):
            core = np.flatnonzero(v.core & (v.labels == k))
            found = tuple(values[row] for values in table.values())[:6]
            assert found == (v.eps, v.min_samples, k, core[0], len(core), (v.labels == k).sum())
            row += 1
        rows = slice(row - v.n_clusters, row)
        e, m = EPS.index(v.eps), MIN_SAMPLES.index(v.min_samples)
        none = [-1] * v.n_clusters
        wider = holders_by_labels(v, result.variant(EPS[e + 1], v.min_samples)) if v.eps < EPS[-1] else none
        looser = holders_by_labels(v, result.variant(v.eps, MIN_SAMPLES[m - 1])) if m > 0 else none
        assert (table["in_wider"][rows].tolist(), table["in_looser"][rows].tolist()) == (wider, looser)
        for other in result:
            if other.eps >= v.eps and other.min_samples <= v.min_samples:
                inner, outer = (v.eps, v.min_samples), (other.eps, other.min_samples)
                holders = holders_by_labels(v, other)
                assert lineage.holders(inner, outer).tolist() == holders
                assert lineage.rank(inner, outer) == len(set(holders))


@pytest.mark.parametrize("name", ["blobs", "quantised"])
def test_lives_follow_the_elder_rule(name, request):
    X = request.getfixturevalue(name)
    result = epsflow.sweep(X, EPS[::-1], MIN_SAMPLES, core=True)  # the order differs from the paths' order
    lineage = epsflow.lineage(X, EPS[::-1], MIN_SAMPLES)
    merges = 0
    for m in MIN_SAMPLES:
        table = check_lives(lineage.lives(min_samples=m), [result.variant(e, m) for e in EPS], EPS, np.inf)
        merges += int(np.isfinite(table["death"]).sum())
    falling = MIN_SAMPLES[::-1]
    for e in EPS:
        check_lives(lineage.lives(eps=e), [result.variant(e, m) for m in falling], falling, np.nan)
    path = [(0.05, 9), (0.1, 5), (0.1, 3), (0.8, 2)]
    variants = [result.variant(*variant) for variant in path]
    check_lives(lineage.lives(path=iter(path)), variants, [eps for eps, _ in path], np.inf)
    assert merges > 20


def test_a_list_of_variants_has_ties_where_it_has_variants(blobs):
    variants = [(0.1, 4), (0.2, 3), (0.3, 4), (0.1, 2), (0.3, 2)]
    result = epsflow.sweep(blobs, variants=variants, core=True)
    lineage = epsflow.lineage(blobs, variants=variants)
    assert lineage.variants == variants
    table = columns(lineage.clusters)
    alone = (table["eps"] == 0.2) & (table["min_samples"] == 3)
    assert alone.any() and (table["in_wider"][alone] == -1).all() and (table["in_looser"][alone] == -1).all()
    assert lineage.holders((0.1, 4), (0.3, 2)).tolist() == holders_by_labels(result[0], result[4])
    cell = "ask for a cell of no smaller eps and no larger min_samples"
    check_refused(
        (lambda: lineage.holders((0.1, 4), (0.2, 3)), ValueError, r"no way from \(0.1, 4\) to \(0.2, 3\)"),
        (lambda: lineage.rank((0.3, 4), (0.1, 4)), ValueError, cell),
        (lambda: lineage.lives(path=[(0.3, 2), (0.1, 2)]), ValueError, "no smaller eps"),
    )


def test_what_is_not_there(blobs):
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    assert lineage.rank((0.1 + 1e-12, 5), (0.4, 5)) == lineage.rank((0.1, 5), (0.4, 5))
    for call in (
        lambda: lineage.holders((0.3, 5), (0.4, 5)),
        lambda: lineage.rank((0.1, 5), (0.4, 4)),
        lambda: lineage.lives(min_samples=4),
        lambda: lineage.lives(eps=0.3),
        lambda: lineage.lives(path=[(0.1, 5), (0.4, 4)]),
    ):
        with pytest.raises(KeyError, match="none of the variants"):
            call()
    for given in ({}, {"eps": 0.1, "min_samples": 5}):
        with pytest.raises(TypeError, match="one of min_samples, eps and path"):
            lineage.lives(**given)


def test_of_weights_and_of_a_box(blobs):
    weights = np.random.default_rng(5).uniform(0.1, 2, size=len(blobs))
    params = {"metric_params": {"box": [[-4, 4], None]}, "sample_weight": weights}
    result = epsflow.sweep(blobs, EPS, MIN_SAMPLES, core=True, **params)
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES, **params)
    for m in MIN_SAMPLES:
        check_lives(lineage.lives(min_samples=m), [result.variant(e, m) for e in EPS], EPS, np.inf)


def test_of_no_points_and_of_no_clusters():
    none = epsflow.lineage(np.empty((0, 2)), [1, 2], [1, 2])
    assert (len(none), len(none.clusters), len(none.lives(min_samples=1))) == (4, 0, 0)
    one = epsflow.lineage([[1.0, 2.0]], [1, 2], [1, 2])
    assert columns(one.clusters)["size"].tolist() == [1, 1]
    assert one.rank((1, 1), (2, 1)) == 1 and one.rank((1, 2), (2, 2)) == 0
    assert pickle.loads(pickle.dumps(none)).variants == none.variants


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
        (found.clusters, expected.clusters), (found.lives(eps=0.2), expected.lives(eps=0.2)),
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
    for table in (lineage.summary, lineage.clusters, lineage.lives(min_samples=3)):
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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("box", [None, [[0, 3]] * 2])
def test_core_points_alone(quantised, weighted, box):
    given = {} if box is None else {"metric_params": {"box": box}}
    if weighted:
        given["sample_weight"] = np.random.default_rng(1).uniform(0, 2, len(quantised))
    whole = epsflow.lineage(quantised, EPS, MIN_SAMPLES, **given)
    made = epsflow.lineage(quantised, EPS, MIN_SAMPLES, keep="core", **given)
    assert whole.summary["n_clusters"].sum() > 100
    for found in (made, pickle.loads(pickle.dumps(made))):
        assert found.variants == whole.variants and repr(found) == repr(whole)
        tables = [("summary", found.summary, whole.summary), ("clusters", found.clusters, whole.clusters)]
        tables += [("lives", found.lives(min_samples=m), whole.lives(min_samples=m)) for m in MIN_SAMPLES]
        tables += [("lives", found.lives(eps=e), whole.lives(eps=e)) for e in EPS]
        for name, ours, theirs in tables:
            ours, theirs = columns(ours), columns(theirs)
            assert set(theirs) - set(ours) == ({"n_noise", "n_border", "largest"} if name == "summary" else {"size"})
            for column, values in ours.items():
                np.testing.assert_array_equal(values, theirs[column])
        assert found.rank((0.1, 5), (0.4, 3)) == whole.rank((0.1, 5), (0.4, 3))
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


def test_relative_validity_compares_where_clusters_join(blobs):
    lineage = epsflow.lineage(blobs, EPS, MIN_SAMPLES)
    found = lineage.relative_validity()
    rows = columns(lineage.summary)
    assert found.shape == (len(lineage),)
    np.testing.assert_array_equal(np.isnan(found), rows["n_clusters"] == 1)
    for i, variant in enumerate(lineage.variants):
        if rows["n_clusters"][i] < 2:
            continue
        path = [(e, variant[1]) for e in EPS]
        here = path.index(variant)
        of_cell = columns(lineage.clusters)
        size = of_cell["size"][(of_cell["eps"] == variant[0]) & (of_cell["min_samples"] == variant[1])]
        total = 0.0
        for k in range(rows["n_clusters"][i]):
            apart = max(
                e for e, m in path[here:]
                if np.count_nonzero(lineage.holders(variant, (e, m)) == lineage.holders(variant, (e, m))[k]) == 1
            )
            joined = min(e for e, m in path[: here + 1] if _holds_all(of_cell, lineage, (e, m), variant, k))
            total += size[k] * (1 - joined / apart)
        assert found[i] == pytest.approx(total / len(blobs))


def _holds_all(clusters, lineage, inner, outer, k) -> bool:
    """Returns true if one cluster of the inner variant has all core points of cluster k of the outer one."""
    core = {
        v: clusters["n_core"][(clusters["eps"] == v[0]) & (clusters["min_samples"] == v[1])] for v in (inner, outer)
    }
    holders = lineage.holders(inner, outer)
    return bool((core[inner][holders == k] == core[outer][k]).any())


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
