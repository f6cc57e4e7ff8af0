"""Tests the recommendations for points with and without clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from checks import check_attributes, check_refused

import epsflow


def blobs(clusters: int, dims: int = 2, size: int = 200, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Returns shuffled points in clusters far apart, and the cluster of each."""
    random = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*dims * [np.arange(0, 12, 3.0)]), axis=-1).reshape(-1, dims)
    centres = random.permutation(grid)[:clusters]
    truth = random.permutation(np.repeat(np.arange(clusters), size))
    return centres[truth] + random.normal(scale=0.3, size=(len(truth), dims)), truth


def names(found) -> set[str]:
    return {flag.name for flag in found.flags}


def same_partition(a, b) -> bool:
    pairs = set(zip(a.tolist(), b.tolist()))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("clusters, dims", [(2, 2), (9, 2), (6, 5)])
def test_blobs(clusters, dims):
    X, truth = blobs(clusters, dims)
    found = epsflow.explore(X)
    offer, plain = found.recommended, found.one_eps
    assert offer is not None and offer.n_clusters == clusters
    clustered = offer.labels >= 0
    assert clustered.mean() > 0.95 and same_partition(offer.labels[clustered], truth[clustered])
    assert offer.n_noise == (~clustered).sum() and abs(offer.noise) < 0.05
    assert 0.1 <= offer.confidence <= 0.97 and offer.score > 0
    assert (offer.eps_of_clusters.min(), offer.eps_of_clusters.max()) == offer.plateau
    assert (offer.eps is None) == (len(set(offer.eps_of_clusters)) > 1)
    assert plain.plateau[0] <= plain.eps <= plain.plateau[1] and set(plain.eps_of_clusters) == {plain.eps}
    assert plain.min_samples_range[0] <= plain.min_samples <= plain.min_samples_range[1]
    assert "no-clusters" not in names(found)
    check_attributes(plain, epsflow.sweep(X, plain.eps, plain.min_samples, core=True)[0], "labels", "core")
    for one in (offer, plain):
        assert one.labels.dtype == np.int32 and not one.labels.flags.writeable
        assert one.core.dtype == np.bool_ and not one.core.flags.writeable


def test_what_an_exploration_holds():
    X, _ = blobs(5)
    found = epsflow.explore(X)
    shape = len(found.eps), len(found.min_samples)
    assert found.scores.shape == shape and np.nanmin(found.scores) >= 0 and np.isnan(found.scores).any()
    assert (np.diff(found.eps) > 0).all() and (np.diff(found.min_samples) > 0).all()
    assert found.map.variants == [(e, m) for e in found.eps.tolist() for m in found.min_samples.tolist()]
    best = found.one_eps
    assert np.isfinite(found.scores[found.eps == best.eps, found.min_samples == best.min_samples]).all()
    assert len(found.map.bars(min_samples=int(found.min_samples[0]))) > 5
    shown = repr(found)
    assert f"{shape[0]} eps with {shape[1]} min_samples" in shown and "recommended: eps=" in shown
    assert "minpts" not in shown
    assert repr(found.recommended).startswith("<epsflow.Offer eps=") and found.recommended.reason in shown
    assert (list(found.eps), list(found.min_samples)) == epsflow.suggest(X)


def test_uniform_points_have_no_clusters():
    found = epsflow.explore(np.random.default_rng(2).uniform(size=(1500, 2)))
    assert found.recommended is None and found.alternatives == []
    flag = next(flag for flag in found.flags if flag.name == "no-clusters")
    assert str(flag) == flag.text and flag.text.startswith("probably no clusters") and flag.text in repr(found)
    assert "recommended: nothing" in repr(found)


def test_too_few_points():
    X = np.arange(18.0).reshape(9, 2)
    found = epsflow.explore(X)
    assert found.recommended is None and "no-clusters" in names(found)
    assert [len(of) for of in (found.eps, found.min_samples, found.map, found.map.clusters)] == [0] * 4
    assert found.scores.shape == (0, 0)
    assert epsflow.suggest(X) == ([], [])
    assert epsflow.explore(X, min_samples=[3, 5]).recommended is None


def test_the_time_that_is_left_is_foretold():
    X, _ = blobs(6, seed=2)
    seen = []
    epsflow.explore(np.concatenate([X + shift for shift in range(0, 4000, 50)]), progress=seen.append)
    assert seen and all(p.seconds_left is None or p.seconds_left >= 0 for p in seen)
    assert any(p.seconds_left is not None for p in seen)
    seen = []
    epsflow.sweep(X, eps=0.5, min_samples=4, progress=seen.append)
    assert seen and all(p.seconds_left is None for p in seen)


def test_a_grid_of_ones_own():
    X, _ = blobs(5)
    eps = np.geomspace(0.05, 5, 30)
    found = epsflow.explore(X, eps[::-1], [20, 5, 10])
    assert found.eps.tolist() == sorted(eps) and found.min_samples.tolist() == [5, 10, 20]
    assert found.recommended.n_clusters == 5 and set(found.recommended.eps_of_clusters) <= set(eps)
    suggested = epsflow.suggest(X)
    assert epsflow.explore(X, min_samples=8).eps.tolist() == suggested[0]
    assert epsflow.explore(X, eps).min_samples.tolist() == suggested[1]
    assert epsflow.explore(X, [round(e, 3) for e in eps], 8).recommended.n_clusters == 5
    for wrong in ([0.1], 0.1, np.linspace(0.1, 2, 20)):
        with pytest.raises(ValueError, match="explore.* needs at least two in even ratios, as numpy.geomspace"):
            epsflow.explore(X, wrong, 5)


def test_a_bound_on_time():
    X, _ = blobs(4)
    assert repr(epsflow.explore(X, seconds=1e6)) == repr(epsflow.explore(X))
    with pytest.raises(ValueError, match="seconds that it may take are over .*allow more time"):
        epsflow.explore(X, seconds=1e-9)
    for wrong, error in (
        (0, ValueError), (-1.0, ValueError), (float("nan"), ValueError), ("60", TypeError), (True, TypeError)
    ):
        with pytest.raises(error, match="^seconds "):
            epsflow.explore(X, seconds=wrong)


def test_a_data_set_is_explored():
    X, _ = blobs(5)
    data = epsflow.Engine("cpu", threads=1).load(X)
    seen: list[epsflow.Progress] = []
    assert repr(data.explore(progress=seen.append)) == repr(epsflow.explore(X))
    assert seen
    assert data.suggest() == epsflow.suggest(X)
    with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'metric'"):
        data.explore(metric="cosine")
    with pytest.raises(TypeError, match="^threads beside engine"):
        epsflow.explore(X, engine=data.engine, threads=1)


def test_weights():
    X, _ = blobs(5)
    ones = np.ones(len(X))
    assert repr(epsflow.explore(X, sample_weight=1.0)) == repr(epsflow.explore(X, sample_weight=ones))
    # min_samples is a multiple of the mean weight.
    eps, min_samples = epsflow.suggest(X)
    assert epsflow.suggest(X, sample_weight=4 * ones) == (eps, [4 * m for m in min_samples])
    weights = np.random.default_rng(4).integers(1, 6, len(X)).astype(np.float64)
    grid = np.geomspace(0.05, 5, 30), [20, 40]
    data = epsflow.Engine("cpu", threads=1).load(X)
    assert data.suggest(sample_weight=weights) == epsflow.suggest(X, sample_weight=weights)
    for asked in ((), grid, grid[:1]):
        found = epsflow.explore(X, *asked, sample_weight=weights)
        assert repr(data.explore(*asked, sample_weight=weights)) == repr(found) != repr(epsflow.explore(X, *asked))
        offer = found.one_eps
        swept = epsflow.sweep(X, offer.eps, offer.min_samples, sample_weight=weights)[0]
        np.testing.assert_array_equal(offer.labels, swept.labels)
        lineage = epsflow.lineage(X, variants=found.map.variants, sample_weight=weights)
        np.testing.assert_array_equal(found.map.clusters, lineage.clusters)


@pytest.mark.parametrize("call", [epsflow.explore, epsflow.suggest, epsflow.AutoDBSCAN().fit])
def test_weights_that_cannot_be(call):
    X, _ = blobs(2)
    ones, third = np.ones(len(X)), np.arange(len(X)) == 3
    for weights, words in (
        (ones[:7], r"sample_weight.shape == \(7,\), expected \(400,\)"),
        (ones - 2 * third, "some weights are below 0.*; use weights of 0 and more"),
        (ones / 10, "mean weight of a point is 0.1, and min_samples, which is.*give a grid of eps and min_samples"),
    ):
        with pytest.raises(ValueError, match=words):
            call(X, sample_weight=weights)


@pytest.mark.parametrize("call", [epsflow.explore, epsflow.suggest])
def test_what_cannot_be_explored(call):
    X, _ = blobs(2)
    X[17, 1] = np.nan
    check_refused(
        (lambda: call(X), ValueError, "nan.*epsflow.drop_missing"),
        (lambda: call(np.zeros((4, 4)), metric="precomputed"), ValueError, "here points are searched"),
        (lambda: call(np.zeros((4, 2)), backend="tpu"), ValueError, "^backend='tpu' is none of 'auto'"),
    )


def test_angles():
    random = np.random.default_rng(5)
    truth = np.repeat(np.arange(4), 150)
    X = np.array([[10.0, 80], [40, 75], [100, 82], [200, 70]])[truth] + random.normal(scale=0.3, size=(600, 2))
    of_angles = {"metric": "greatcircle", "metric_params": {"unit": "km"}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = epsflow.explore(X, np.geomspace(0.5, 5000, 40), **of_angles)
    assert found.recommended.n_clusters == 4 and 5 < found.one_eps.eps < 1000
    with pytest.warns(UserWarning, match="is taken in km, and is no smaller than the whole field"):
        epsflow.explore(X[:150], [1000, 2000], 4, **of_angles)


def test_alternatives_are_other_scales():
    random = np.random.default_rng(6)
    centres = np.array([[x + dx, dy] for x in (0.0, 60) for dx, dy in ((0, 0), (1.7, 0), (0.85, 1.5))])
    found = epsflow.explore(np.repeat(centres, 150, axis=0) + random.normal(scale=0.25, size=(900, 2)))
    assert {2, 6} <= {offer.n_clusters for offer in (found.recommended, *found.alternatives)}
    assert repr(found).count("alternative:") == len(found.alternatives)


@pytest.mark.parametrize("container", ["array", "pandas"])
def test_auto_dbscan(container):
    points, _ = blobs(5)
    X = points if container == "array" else pytest.importorskip("pandas").DataFrame(points, columns=["x", "y"])
    explored = epsflow.explore(points)
    for eps, found in (("each", explored.recommended), ("one", explored.one_eps)):
        model = epsflow.AutoDBSCAN(eps=eps, n_jobs=1, backend="cpu").fit(X)
        assert (model.eps_, model.min_samples_, model.n_features_in_) == (found.eps, found.min_samples, 2)
        np.testing.assert_array_equal(model.eps_of_clusters_, found.eps_of_clusters)
        np.testing.assert_array_equal(model.labels_, found.labels)
        np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(found.core))
        np.testing.assert_array_equal(model.components_, points[found.core])
        assert repr(model.exploration_) == repr(explored)
        np.testing.assert_array_equal(model.fit_predict(X), found.labels)
        model.labels_[0] = 7  # labels_ belongs to the caller
        assert hasattr(model, "feature_names_in_") == (container == "pandas")
    with pytest.raises(ValueError, match="eps is 'some'; it is 'each' or 'one'"):
        epsflow.AutoDBSCAN(eps="some").fit(X)


def test_auto_dbscan_with_weights():
    X, _ = blobs(5)
    weights = np.random.default_rng(4).integers(1, 6, len(X)).astype(np.float64)
    model = epsflow.AutoDBSCAN(eps="one").fit(X, sample_weight=weights)
    assert repr(model.exploration_) == repr(epsflow.explore(X, sample_weight=weights))
    each = epsflow.AutoDBSCAN().fit_predict(X, sample_weight=weights)
    np.testing.assert_array_equal(each, model.exploration_.recommended.labels)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        epsflow.AutoDBSCAN().fit(X, sample_weight=np.zeros(len(X)))


def test_auto_dbscan_where_nothing_is_found():
    X = np.random.default_rng(1).uniform(size=(800, 2))
    model = epsflow.AutoDBSCAN().fit(X)
    assert (model.eps_, model.min_samples_) == (None, None)
    assert model.labels_.tolist() == [0] * 800 and model.labels_.dtype == np.int32
    assert model.core_sample_indices_.shape == (0,) and model.components_.shape == (0, 2)
    assert "no-clusters" in names(model.exploration_)


def test_auto_dbscan_by_metrics():
    X, _ = blobs(5)
    model = epsflow.AutoDBSCAN(metric_params={"scale": [1, 0.001]}).fit(X * [1, 1000])
    assert model.labels_.max() == 4
    for metric, words in (("cubic", "metric='cubic' is not known"), ("precomputed", "here points are searched")):
        with pytest.raises(ValueError, match=words):
            epsflow.AutoDBSCAN(metric=metric).fit(X)
