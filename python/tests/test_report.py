"""Reports: pages of results in memory, the same that the program makes of files."""

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
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)[1])


def test_of_a_sweep(blobs, tmp_path):
    result = epsflow.sweep(blobs, eps=[0.2, 0.4], min_samples=[4, 8], lineage=True)
    page = tmp_path / "page.html"
    result.report(page)
    data = data_of(page)
    assert (data["points"], data["eps"], data["minpts"]) == (900, [0.2, 0.4], [4, 8])
    assert [c["clusters"] for c in data["cells"]] == [v.n_clusters for v in result]
    assert all(c["maps"] and c["lives"] is not None for c in data["cells"])
    again = eval(data["command"].partition(".report")[0], {"epsflow": epsflow, "X": blobs})
    assert [v.n_clusters for v in again] == [v.n_clusters for v in result]
    assert dict(data["provenance"])["Checksum"].startswith("crc32:")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.report(page)
    result.report(str(page), overwrite=True)


def test_counts_alone_have_no_map(blobs, tmp_path):
    epsflow.sweep(blobs, eps=[0.2, 0.4], min_samples=4, keep="summary").report(tmp_path / "page.html")
    assert all(c["maps"] == [] for c in data_of(tmp_path / "page.html")["cells"])


def test_of_an_exploration(blobs, tmp_path):
    found = epsflow.explore(blobs)
    found.report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    best = data["advice"]["recommended"]
    assert (best["eps"], best["minpts"], best["clusters"]) == (found.recommended.eps, found.recommended.min_samples, 3)
    assert len(data["cells"]) == len(found.map) and all(c["maps"] for c in data["cells"])
    assert data["planes"][0]["x"]["name"] == "x"
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(ValueError, match="unpickled has no points"):
        again.report(tmp_path / "other.html")


def test_names_of_a_table(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs, columns=["</script>", "north"])
    epsflow.sweep(table, eps=[0.4], min_samples=[4]).report(tmp_path / "page.html")
    plane = data_of(tmp_path / "page.html")["planes"][0]
    assert (plane["x"]["name"], plane["y"]["name"]) == ("</script>", "north")


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
