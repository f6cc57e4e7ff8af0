"""Tests compare(), which compares two labellings."""

from types import SimpleNamespace

import numpy as np
import pytest

from checks import check_refused

import epsflow

RANDOM = np.random.default_rng(5)
X = np.concatenate([RANDOM.normal(centre, 0.5, size=(200, 2)) for centre in ([0, 0], [3, 0], [0, 3])])


@pytest.mark.parametrize("seed", range(40))
def test_indices_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    n, clusters = random.integers(1, 300), random.integers(1, 20)
    a = random.integers(-1, clusters, n)
    b = np.where(random.random(n) < random.random(), a, random.integers(-1, clusters, n))
    found = epsflow.compare(a, b)
    assert found.ari == pytest.approx(metrics.adjusted_rand_score(a, b), abs=1e-12)
    info = metrics.mutual_info_score
    assert found.vi == pytest.approx(info(a, a) + info(b, b) - 2 * info(a, b), abs=1e-12)
    assert found.normalised_vi == pytest.approx(found.vi / np.log(n) if n > 1 else 0, abs=1e-12)
    for kept, one, other in ((found.kept, a, b), (found.kept_back, b, a)):
        most = sum(np.bincount(other[(one == c) & (other >= 0)], minlength=1).max() for c in set(one[one >= 0]))
        assert kept == pytest.approx(most / (one >= 0).sum() if (one >= 0).any() else 1, abs=1e-12)
    assert found.n == n


def test_the_table_has_every_overlap():
    a = np.array([4, 4, 4, 0, 0, -1, -1, 4])
    b = np.array([1, 7, 7, -1, -1, -1, 2, 7])
    table = epsflow.compare(a, b).table
    np.testing.assert_array_equal(table["a"], [-1, -1, 0, 4, 4])
    np.testing.assert_array_equal(table["b"], [-1, 2, -1, 7, 1])
    np.testing.assert_array_equal(table["points"], [1, 1, 2, 3, 1])
    np.testing.assert_allclose(table["of_a"], [0.5, 0.5, 1, 0.75, 0.25])
    np.testing.assert_allclose(table["of_b"], [1 / 3, 1, 2 / 3, 1, 1])
    assert table["a"].dtype == table["b"].dtype == np.int32 and table["points"].dtype == np.int64


def test_the_table_is_a_data_frame_where_pandas_is_there():
    pandas = pytest.importorskip("pandas")
    assert isinstance(epsflow.compare([0, 1], [0, 0]).table, pandas.DataFrame)


def test_variants_estimators_series_and_lists_have_labels():
    result = epsflow.sweep(X, eps=[0.1, 0.2], min_samples=5)
    variants = result.variant(0.1, 5), result.variant(0.2, 5)
    expected = epsflow.compare(variants[0].labels, variants[1].labels)
    assert 0 < expected.ari < 1 and expected.kept > expected.kept_back
    assert epsflow.compare(*variants) == expected
    assert epsflow.compare(*variants, threads=1) == expected
    fitted = epsflow.DBSCAN(0.1, min_samples=5).fit(X)
    assert epsflow.compare(fitted, variants[1]) == expected
    listed = SimpleNamespace(labels=variants[0].labels.tolist())
    assert epsflow.compare(listed, variants[1].labels.astype(np.uint64) * 0 + 3).n == len(X)
    assert epsflow.compare(range(5), [0, 1, 2, 3, 4]).ari == 1
    assert epsflow.compare([], []).ari == 1


WRONG = [
    ([0, 1], [0], ValueError, "a has 2 labels and b has 1: give two labellings of the same points"),
    ([0.0, 1.0], [0, 1], TypeError, "a has dtype float64, and labels are whole numbers"),
    ([0, 1], [True, False], TypeError, "b has dtype bool"),
    ([0, 1], ["x", "y"], TypeError, "b has dtype <U1"),
    ([0, -2], [0, 1], ValueError, "a has the label -2, and labels are clusters from 0 to 2147483647, or -1 for noise"),
    ([0, 2**31], [0, 1], ValueError, "a has the label 2147483648"),
    ([[0, 1]], [0, 1], ValueError, "a has shape (1, 2), and labels are a label for each point"),
    (np.ma.masked_array([0, 1], [True, False]), [0, 1], ValueError, "a has masked values"),
    (np.array([0.0, np.nan]), [0, 1], TypeError, "a has dtype float64"),
]


@pytest.mark.parametrize("a, b, error, words", WRONG, ids=[words for *_, words in WRONG])
def test_what_cannot_be_compared_is_refused(a, b, error, words):
    with pytest.raises(error) as raised:
        epsflow.compare(a, b)
    assert words in str(raised.value)


@pytest.mark.parametrize("dialect", ["epsflow", "swift", "nbodykit"])
def test_points_in_no_group_are_noise_in_every_dialect(dialect):
    both = np.concatenate([X, RANDOM.uniform(-9, 9, (60, 2))])
    given = {"linking_length": 0.2, "min_size": 5, "attach": both[::2]}
    plain, groups = (epsflow.friends_of_friends(both, dialect=word, **given) for word in ("epsflow", dialect))
    assert plain.n_groups > 1 and (plain.labels == -1).sum() > 10
    labels, attached = (found - 1 if dialect == "nbodykit" else found for found in (groups.labels, groups.attached))
    for given in (groups, labels, labels.astype(np.uint64) if dialect == "swift" else labels):
        found = epsflow.compare(plain, given)
        assert found.ari == 1 and found.vi == 0 and np.asarray(found.table["b"])[0] == -1
        assert epsflow.validity(both, given).score == epsflow.validity(both, plain.labels).score
        assert len(epsflow.catalog(both, given)) == len(epsflow.members(given)[2]) == plain.n_groups
    assert epsflow.compare(plain.attached, attached).vi == 0


def test_errors_say_how_labels_are_chosen():
    result, sliced = epsflow.sweep(X, [0.1, 0.2], 5), epsflow.sweep_many(X, 0.2, 5, offsets=[0, 200, 600])
    dropped = np.array([0.0, np.nan, 1.0])
    left_out = r"rows that were dropped have none, and are left out as a\[numpy.isfinite\(a\)\].astype\(int\)"
    a_slice = r"a is a SlicedResult.*choose those of one with labels\(eps, min_samples, slice\)"
    check_refused(
        (lambda: epsflow.compare(dropped, [0, 0, 1]), TypeError, f"a has dtype float64.*{left_out}"),
        (lambda: epsflow.compare(sliced, sliced), TypeError, a_slice),
        (lambda: epsflow.compare(result, result), TypeError, r"a is a SweepResult.*variant\(eps, min_samples\)"),
        (lambda: epsflow.compare([0], [0], threads="x"), TypeError, "threads is 'x'"),
    )
