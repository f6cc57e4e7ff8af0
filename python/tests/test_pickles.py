"""Every result can be pickled, read by another process and copied, and the original does not change."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from checks import columns, run_python
from programs import succeeded

import epsflow

DRAW = np.random.default_rng(8)
X = np.concatenate([DRAW.normal(centre, 0.2, (60, 2)) for centre in ([0, 0], [3, 0], [0, 3])])
LABELS = np.repeat([0, 1, -1], 60)
TIMES = np.tile([0, 1, 2], 60)


def rows(table):
    """Returns the columns of a table as lists of texts, so that NaN equals NaN."""
    found = table if isinstance(table, dict) else columns(table)
    return {str(name): [repr(value) for value in np.asarray(values).tolist()] for name, values in found.items()}


def of_explored(found):
    return repr(found), repr(found.scores.tolist()), rows(found.map.summary), found.recommended.labels.tolist()


MADE = {
    "sweep": (
        lambda: epsflow.sweep(X, [0.2, 0.3], [3, 5], core=True, lineage=True),
        lambda found: (
            rows(found.summary), [variant.labels.tolist() for variant in found], found.metric,
            found.core_sample_indices(0.3, 5).tolist(), rows(found.lineage.summary),
        ),
    ),
    "variant": (
        lambda: epsflow.sweep(X, 0.3, 5, core=True)[0],
        lambda found: (
            found.eps, found.min_samples, found.labels.tolist(), found.core.tolist(), found.n_noise, repr(found)
        ),
    ),
    "sweep_many": (
        lambda: epsflow.sweep_many(X, 0.3, 5, by=TIMES),
        lambda found: (
            found.keys.tolist(), found.sizes.tolist(), rows(found.summary), found.labels(0.3, 5).tolist(),
            found.labels(0.3, 5, slice=1).tolist(), rows(found.catalog(0.3, 5)),
        ),
    ),
    "friends_of_friends": (
        lambda: epsflow.friends_of_friends(
            X, 0.3, attach=X[:9], velocity=X, weights=np.full(180, 2.0), dialect="swift"
        ),
        lambda found: (
            found.labels.tolist(), found.attached.tolist(), found.n_groups, found.dialect, rows(found.catalog)
        ),
    ),
    "tracks": (
        lambda: epsflow.tracks(X, LABELS, np.sort(TIMES), core=LABELS >= 0, eps=5.0),
        lambda found: (
            rows(found.table), rows(found.links), found.events, found.features.tolist(), found.times.tolist()
        ),
    ),
    "explore": (lambda: epsflow.explore(X), of_explored),
    "sweep_velocities": (
        lambda: epsflow.sweep_velocities(X, TIMES, [[0, 0], [1, 0]], 0.3, 5),
        lambda found: (rows(found.summary), rows(found.clusters), found.labels(1, 0.3, 5).tolist()),
    ),
    "lineage": (
        lambda: epsflow.lineage(X, [0.2, 0.3], [3, 5]),
        lambda found: (
            rows(found.summary), rows(found.clusters), rows(found.bars(min_samples=5)),
            found.relative_validity().tolist(),
        ),
    ),
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
    "Dataset": (
        lambda: epsflow.Engine("cpu", memory="1GiB", threads=1).load(X, metric="manhattan"),
        lambda found: (found.shape, found.engine._engine.threads, found.sweep(0.3, 5)[0].labels.tolist()),
    ),
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
    # Only pickle imports epsflow before the result is there.
    code = (
        "import pickle, sys; found = pickle.load(open(sys.argv[1], 'rb')); "
        "import test_pickles; print(repr(test_pickles.MADE[sys.argv[2]][1](found)))"
    )
    done = succeeded(run_python("-c", code, tmp_path / "found", name, cwd=__file__.rpartition("/")[0]))
    assert done.stdout.strip() == repr(expected)


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
    grid = ("--eps", "0.3", "--minpts", "3,5", "--keep", "summary", "--out", tmp_path / "out")
    succeeded(program("sweep", tmp_path / "x.csv", *grid))
    found = epsflow.load(tmp_path / "out")
    for again in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert rows(again.summary) == rows(found.summary)
        with pytest.raises(ValueError, match="has no labels of eps=0.3, min_samples=5"):
            again.labels(0.3, 5)


def test_what_was_pickled_has_no_points(tmp_path):
    result = epsflow.sweep(X, 0.3, 5)
    result.save(tmp_path / "results")
    for again in (pickle.loads(pickle.dumps(result)), epsflow.load(tmp_path / "results")):
        no_points = "the result was loaded or unpickled, and has no points: .*"
        with pytest.raises(ValueError, match=no_points + r"epsflow.catalog\(X, variant\)"):
            again[0].catalog
        with pytest.raises(ValueError, match=no_points + "`epsflow report FOLDER`"):
            again.report(tmp_path / "report.html")
        assert rows(epsflow.catalog(X, again[0])) == rows(result[0].catalog)
    with pytest.raises(ValueError, match="loaded or unpickled"):
        pickle.loads(pickle.dumps(result[0])).catalog
    distances = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))
    words = r"the result is of distances, and has no points.*epsflow.catalog\(X, variant\)"
    with pytest.raises(ValueError, match=words):
        epsflow.sweep(distances, 0.3, 5, metric="precomputed")[0].catalog
