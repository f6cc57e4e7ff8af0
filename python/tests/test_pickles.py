"""Every result can be pickled, read by another process and copied, and the original does not change."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import epsflow

DRAW = np.random.default_rng(8)
X = np.concatenate([DRAW.normal(centre, 0.2, (60, 2)) for centre in ([0, 0], [3, 0], [0, 3])])
LABELS = np.repeat([0, 1, -1], 60)
TIMES = np.tile([0, 1, 2], 60)


def rows(table):
    """Returns the columns of a table as lists of texts, so that NaN equals NaN."""
    names = (
        list(table.columns) if hasattr(table, "columns") else list(table.dtype.names) if hasattr(table, "dtype")
        else list(table)
    )
    return {str(name): [repr(value) for value in np.asarray(table[name]).tolist()] for name in names}


def of_sweep(found):
    return (
        rows(found.summary), [variant.labels.tolist() for variant in found], found.metric,
        found.core_sample_indices(0.3, 5).tolist(), rows(found.lineage.summary),
    )


def of_variant(found):
    return found.eps, found.min_samples, found.labels.tolist(), found.core.tolist(), found.n_noise, repr(found)


def of_sliced(found):
    return (
        found.keys.tolist(), found.sizes.tolist(), rows(found.summary), found.labels(0.3, 5).tolist(),
        found.labels(0.3, 5, slice=1).tolist(), rows(found.catalog(0.3, 5)),
    )


def of_groups(found):
    return found.labels.tolist(), found.attached.tolist(), found.n_groups, found.dialect, rows(found.catalog)


def of_tracks(found):
    return rows(found.table), rows(found.links), found.events, found.features.tolist(), found.times.tolist()


def of_explored(found):
    return repr(found), repr(found.scores.tolist()), rows(found.map.summary), found.recommended.labels.tolist()


def of_velocities(found):
    return rows(found.summary), rows(found.clusters), found.labels(1, 0.3, 5).tolist()


def of_lineage(found):
    return (
        rows(found.summary), rows(found.clusters), rows(found.lives(min_samples=5)), found.relative_validity().tolist()
    )


MADE = {
    "sweep": (lambda: epsflow.sweep(X, [0.2, 0.3], [3, 5], core=True, lineage=True), of_sweep),
    "variant": (lambda: epsflow.sweep(X, 0.3, 5, core=True)[0], of_variant),
    "sweep_many": (lambda: epsflow.sweep_many(X, 0.3, 5, by=TIMES), of_sliced),
    "friends_of_friends": (
        lambda: epsflow.friends_of_friends(
            X, 0.3, attach=X[:9], velocity=X, weights=np.full(180, 2.0), dialect="swift"
        ),
        of_groups,
    ),
    "tracks": (lambda: epsflow.tracks(X, LABELS, np.sort(TIMES), core=LABELS >= 0, eps=5.0), of_tracks),
    "explore": (lambda: epsflow.explore(X), of_explored),
    "sweep_velocities": (lambda: epsflow.sweep_velocities(X, TIMES, [[0, 0], [1, 0]], 0.3, 5), of_velocities),
    "lineage": (lambda: epsflow.lineage(X, [0.2, 0.3], [3, 5]), of_lineage),
    "plan": (lambda: [plan.because for plan in epsflow.plan(X, [0.2, 0.3], 5)], repr),
    "k_distance": (lambda: epsflow.k_distance(X, [2, 4]), np.ndarray.tolist),
    "knee": (lambda: epsflow.knee(epsflow.k_distance(X)), repr),
    "selectivity": (lambda: epsflow.selectivity(X, [0.2, 0.3]), rows),
    "compare": (lambda: epsflow.compare(LABELS, TIMES), lambda found: (repr(found), rows(found.table))),
    "validity": (lambda: epsflow.validity(X, LABELS), lambda found: (found.score, found.cluster_scores.tolist())),
    "neighbors": (
        lambda: epsflow.neighbors(X, 0.3, distances=True), lambda found: np.asarray(found.sum(axis=0)).tolist()
    ),
    "catalog": (lambda: epsflow.catalog(X, LABELS), rows),
    "members": (lambda: epsflow.members(LABELS), lambda found: [part.tolist() for part in found]),
    "DBSCAN": (
        lambda: epsflow.DBSCAN(0.3).fit(X), lambda found: (found.labels_.tolist(), found.predict(X + 0.1).tolist())
    ),
    "AutoDBSCAN": (
        lambda: epsflow.AutoDBSCAN().fit(X), lambda found: (found.labels_.tolist(), of_explored(found.exploration_))
    ),
    "Dataset": (lambda: epsflow.Engine("cpu").load(X), lambda found: found.sweep(0.3, 5)[0].labels.tolist()),
}


@pytest.mark.parametrize("name", MADE)
def test_results_are_pickled_and_copied(name, tmp_path):
    if name == "neighbors":
        pytest.importorskip("scipy")
    make, of = MADE[name]
    found = make()
    expected = of(found)
    for again in (
        pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found),
        pickle.loads(pickle.dumps(copy.copy(found))),
    ):
        assert of(again) == expected
    assert of(found) == expected
    (tmp_path / "found").write_bytes(pickle.dumps(found))
    code = (
        "import pickle, sys, test_pickles; found = pickle.load(open(sys.argv[1], 'rb')); "
        "print(repr(test_pickles.MADE[sys.argv[2]][1](found)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "found"), name], capture_output=True, text=True, timeout=120,
        cwd=__file__.rpartition("/")[0],
    )
    assert done.returncode == 0 and done.stdout.strip() == repr(expected), done.stderr


def test_copies_have_the_points():
    result = epsflow.sweep(X, [0.2, 0.3], 5, core=True)
    expected = rows(result[0].catalog)
    for again in (copy.copy(result), copy.deepcopy(result), copy.copy(result[0]), copy.deepcopy(result[0])):
        variant = again if isinstance(again, epsflow.VariantResult) else again.variant(0.2, 5)
        assert rows(variant.catalog) == expected
    assert rows(result[0].catalog) == rows(result.variant(0.2, 5).catalog) == expected
    explored = epsflow.explore(X)
    assert copy.deepcopy(explored)._made[0] is explored._made[0]


def test_counts_of_a_folder_are_pickled(tmp_path, program):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    done = program(
        "sweep", tmp_path / "x.csv", "--eps", "0.3", "--minpts", "3,5", "--keep", "summary", "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    found = epsflow.load(tmp_path / "out")
    for again in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert rows(again.summary) == rows(found.summary)
        with pytest.raises(ValueError, match="has no labels of eps=0.3, min_samples=5"):
            again.labels(0.3, 5)


def test_what_was_pickled_has_no_points(tmp_path):
    result = epsflow.sweep(X, 0.3, 5)
    result.save(tmp_path / "results")
    for again in (pickle.loads(pickle.dumps(result)), epsflow.load(tmp_path / "results")):
        with pytest.raises(
            ValueError, match=r"the result was loaded or unpickled, and has no points: .*epsflow.catalog\(X, variant\)"
        ):
            again[0].catalog
        with pytest.raises(
            ValueError, match="the result was loaded or unpickled, and has no points: .*`epsflow report FOLDER`"
        ):
            again.report(tmp_path / "report.html")
        assert rows(epsflow.catalog(X, again[0])) == rows(result[0].catalog)
    with pytest.raises(ValueError, match="loaded or unpickled"):
        pickle.loads(pickle.dumps(result[0])).catalog
    distances = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))
    with pytest.raises(
        ValueError, match=r"the result is of distances, and has no points.*epsflow.catalog\(X, variant\)"
    ):
        epsflow.sweep(distances, 0.3, 5, metric="precomputed")[0].catalog
