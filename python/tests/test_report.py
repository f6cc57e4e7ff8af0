"""Reports of results in memory must equal the pages that the program makes of files."""

import json
import pickle
import re

import numpy as np
import pytest

import epsflow


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(c, 0.7, (300, 2)) for c in ((0, 0), (10, 0), (0, 10))])


def data_of(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)[1]
    )


def test_of_a_sweep(blobs, tmp_path):
    result = epsflow.sweep(blobs, eps=[0.2, 0.4], min_samples=[4, 8], lineage=True)
    page = tmp_path / "page.html"
    result.report(page)
    data = data_of(page)
    assert (data["points"], data["eps"], data["minpts"]) == (900, [0.2, 0.4], [4, 8])
    assert [c["clusters"] for c in data["cells"]] == [v.n_clusters for v in result]
    assert all(c["maps"] and c["bars"] is not None for c in data["cells"])
    again = eval(data["command"].partition(".report")[0], {"epsflow": epsflow, "X": blobs})
    assert [v.n_clusters for v in again] == [v.n_clusters for v in result]
    assert dict(data["provenance"])["Checksum"].startswith("crc32:")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.report(page)
    result.report(str(page), overwrite=True)


@pytest.mark.parametrize(
    "given",
    [
        {"metric": "greatcircle", "metric_params": {"unit": "km", "latitude_first": True}},
        {"metric_params": {"scale": [1, 0.5], "box": [None, 30]}},
        {"metric": "minkowski", "metric_params": {"p": 1.5}},
        {"metric": "haversine"},
    ],
)
def test_the_command_makes_the_same_again(blobs, tmp_path, given):
    weights = np.linspace(0.5, 2, len(blobs))
    X = np.abs(blobs) / 10
    eps = [3.0, 20.0] if given.get("metric") == "greatcircle" else [0.01, 0.05]
    page = tmp_path / "page.html"
    names = {"epsflow": epsflow, "X": X, "weights": weights}
    swept = epsflow.sweep(X, eps=eps, min_samples=[4, 8], sample_weight=weights, lineage=True, **given)
    swept.report(page)
    again = eval(data_of(page)["command"].partition(".report")[0], names)
    assert again.metric == swept.metric and again.lineage is not None
    for a, b in zip(again, swept):
        np.testing.assert_array_equal(a.labels, b.labels)
    explored = epsflow.explore(X, eps=np.geomspace(eps[0], eps[1], 5), sample_weight=weights, **given)
    explored.report(page, overwrite=True)
    again = eval(data_of(page)["command"].partition(".report")[0], names)
    np.testing.assert_array_equal(again.eps, explored.eps)
    np.testing.assert_array_equal(again.scores, explored.scores)


def test_counts_alone_have_no_map_and_tables_give_names(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs, columns=["east", "north"])
    epsflow.sweep(table, eps=[0.2, 0.4], min_samples=4, keep="summary").report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert all(c["maps"] == [] for c in data["cells"])
    assert [data["planes"][0][axis]["name"] for axis in "xy"] == ["east", "north"]


def test_of_an_exploration(blobs, tmp_path):
    found = epsflow.explore(blobs)
    found.report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    best, plain = data["advice"]["recommended"], data["advice"]["one_eps"]
    assert (plain["eps"], plain["minpts"], plain["clusters"]) == (found.one_eps.eps, found.one_eps.min_samples, 3)
    assert (best["eps_of_clusters"], best["clusters"]) == (found.recommended.eps_of_clusters.tolist(), 3)
    assert len(data["cells"]) == len(found.map) + 1 and all(c["maps"] for c in data["cells"])
    own = [c["own_eps"] for c in data["cells"] if c["eps"] is None]
    assert sorted(eps for _, _, eps in own[0]) == pytest.approx(sorted(best["eps_of_clusters"]), rel=1e-2)
    assert data["planes"][0]["x"]["name"] == "x"
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(ValueError, match="unpickled has no points"):
        again.report(tmp_path / "other.html")


def test_what_is_refused(blobs, tmp_path):
    result = epsflow.sweep(blobs, eps=[0.4], min_samples=[4])
    with pytest.raises(ValueError, match="ends in .html"):
        result.report(tmp_path / "page.pdf")
    with pytest.raises(TypeError, match="file"):
        result.report(3)
    result.save(tmp_path / "saved")
    with pytest.raises(ValueError, match="epsflow report FOLDER"):
        epsflow.load(tmp_path / "saved").report(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
