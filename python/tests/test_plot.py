"""Compares plots of grids, distances, persistences, sizes and stages with the numbers that they show."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
from checks import check_refused, run_python
from programs import succeeded

import epsflow


def blobs(n=300, seed=1):
    random = np.random.default_rng(seed)
    middles = [[0, 0], [4, 0], [0, 4], [9, 9]]
    return np.concatenate(
        [random.normal(middle, 0.3, (n // 5, 2)) for middle in middles] + [random.uniform(-2, 11, (n // 5, 2))]
    )


def test_the_package_is_imported_without_matplotlib():
    there = "'matplotlib' in sys.modules, epsflow.plot is sys.modules['epsflow.plot']"
    done = succeeded(run_python("-c", f"import sys, epsflow, epsflow.plot; print({there})"))
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("draw", [lambda: epsflow.plot.sizes([0, 0]), lambda: epsflow.plot.clusters([[0.0, 1]], [0])])
def test_without_matplotlib_it_is_said_how_to_get_it(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "epsflow\[plot\]"'):
        draw()


matplotlib = pytest.importorskip("matplotlib")

from matplotlib import pyplot  # noqa: E402

from epsflow.plot._heatmap import is_log  # noqa: E402
from epsflow.plot._bars import _bars_of, parents_of  # noqa: E402
from epsflow.plot._style import style  # noqa: E402


def mesh_of(ax):
    (mesh,) = ax.collections
    return mesh


def words(texts):
    return [text.get_text() for text in texts]


def label(axis):
    return words(axis.get_ticklabels())


def parameters(lines):
    """Returns the eps and min_samples that lines with one point mark, and their markers."""
    return [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in lines]


# ---------------------------------------------------------------- heat maps


@pytest.mark.parametrize("quantity", ["clusters", "noise", "core", "border", "largest"])
@pytest.mark.parametrize("kind", ["sweep", "lineage"])
def test_each_cell_has_its_count(quantity, kind):
    X = blobs()
    eps, min_samples = [0.1, 0.2, 0.4, 0.8], [3, 6, 12]
    result = epsflow.sweep(X, eps, min_samples)
    ax = epsflow.plot.heatmap(result if kind == "sweep" else epsflow.lineage(X, eps, min_samples), quantity)
    found = mesh_of(ax).get_array()
    names = {"clusters": "n_clusters", "noise": "n_noise", "core": "n_core", "border": "n_border", "largest": "largest"}
    for row, m in enumerate(min_samples):
        for column, e in enumerate(eps):
            count = getattr(result.variant(e, m), names[quantity])
            assert found[row, column] == pytest.approx(count if quantity == "clusters" else 100 * count / len(X))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert label(ax.xaxis) == ["0.1", "0.2", "0.4", "0.8"] and label(ax.yaxis) == ["3", "6", "12"]
    assert len(ax.texts) == 12 and (ax.get_xlabel(), ax.get_ylabel()) == ("eps", "min_samples")


def test_numbers_stand_in_the_cells_they_are_of():
    X = blobs()
    result = epsflow.sweep(X, [0.1, 0.2, 0.3], [4, 8])
    ax = epsflow.plot.heatmap(result)
    assert ax.get_xscale() == "linear"
    texts = {
        (round(float(text.get_position()[0]), 9), text.get_position()[1] > 6): text.get_text() for text in ax.texts
    }
    assert texts == {(v.eps, v.min_samples == 8): f"{v.n_clusters:,}" for v in result}


def test_variants_that_were_not_run_stay_empty():
    variants = [(0.1, 3), (0.2, 3), (0.2, 6), (0.5, 6)]
    ax = epsflow.plot.heatmap(epsflow.sweep(blobs(), variants=variants))
    mask = np.ma.getmaskarray(mesh_of(ax).get_array())
    np.testing.assert_array_equal(mask, [[False, False, True], [True, False, False]])
    assert len(ax.texts) == 4


def test_an_exploration_is_marked_where_it_recommends():
    found = epsflow.explore(blobs(600))
    assert found.recommended is not None
    ax = epsflow.plot.heatmap(found, "stability")
    assert parameters(ax.lines) == [
        (found.one_eps.eps, found.one_eps.min_samples, "*"),
        *((o.eps, o.min_samples, "o") for o in found.alternatives if o.eps is not None),
    ]
    array = mesh_of(ax).get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(array), np.isnan(found.scores.T))
    np.testing.assert_array_equal(array.filled(-1), np.nan_to_num(found.scores.T, nan=-1))
    recommended = f"recommended: eps {found.one_eps.eps:.3g}, min_samples {found.one_eps.min_samples}"
    assert words(ax.get_legend().get_texts())[0] == recommended and not ax.texts


def test_an_explored_folder_is_the_exploration(program, tmp_path):
    X = blobs(600)
    np.save(tmp_path / "x.npy", X)
    succeeded(program("explore", tmp_path / "x.npy", "--out", tmp_path / "out"))
    ax, again = epsflow.plot.heatmap(epsflow.load(tmp_path / "out")), epsflow.plot.heatmap(epsflow.explore(X))
    np.testing.assert_array_equal(mesh_of(ax).get_array(), mesh_of(again).get_array())
    unpickled = epsflow.plot.heatmap(pickle.loads(pickle.dumps(epsflow.load(tmp_path / "out"))))
    assert parameters(ax.lines) == parameters(unpickled.lines) == parameters(again.lines)
    assert words(epsflow.plot.stages(tmp_path / "out").texts)[0] == "no stages: the trace is empty"


def test_nothing_recommended_is_nothing_marked():
    found = epsflow.explore(np.random.default_rng(0).uniform(0, 1, (9, 2)))  # fewer points than its grid needs
    for given in ({}, {"quantity": "stability"}):
        assert words(epsflow.plot.heatmap(found, **given).texts) == ["no grid: there are no variants"]


def test_eps_has_the_unit_of_its_metric(tmp_path):
    X = np.random.default_rng(0).uniform([5, 40], [6, 41], (200, 2))
    result = epsflow.sweep(X, [1, 2], [3, 5], metric="greatcircle", metric_params={"unit": "km"})
    assert epsflow.plot.heatmap(result).get_xlabel() == "eps (km)"
    result.save(tmp_path / "out")
    assert epsflow.plot.heatmap(epsflow.load(tmp_path / "out")).get_xlabel() == "eps (km)"


@pytest.mark.parametrize(
    ("values", "log"),
    [([1, 2, 4, 8], True), ([0.1, 0.2, 0.3], False), ([3, 5, 8, 12, 19, 31], True), ([1, 2], False), ([1, 10], True),
     ([5], False), ([4, 5, 6, 7], False)],
)
def test_axes_are_logarithmic_where_values_are(values, log):
    assert is_log(np.array(values, float)) == log


@pytest.mark.parametrize(
    ("source", "quantity", "error", "text"),
    [
        ("sweep", "noises", ValueError,
         "quantity='noises' is none of 'clusters', 'noise', 'core', 'border', 'largest', 'stability'"),
        ("sweep", "stability", ValueError,
         r"quantity='stability' is scored by epsflow.explore\(X\), and a SweepResult has none"),
        ("core", "noise", ValueError,
         "quantity='noise': the lineage was made with keep='core', and counts core points alone: "
         "make it with keep='summary'"),
        ("core", "core", ValueError, "does not know how many points there are"),
        ("list", "noise", TypeError,
         "source is of type list; it is what epsflow.sweep, epsflow.lineage or epsflow.explore returns"),
    ],
)
def test_what_a_heat_map_cannot_show_is_refused(source, quantity, error, text):
    X = blobs(50)
    made = {
        "sweep": lambda: epsflow.sweep(X, 0.3, 4), "core": lambda: epsflow.lineage(X, [0.3], [4], keep="core"),
        "list": lambda: [1],
    }[source]()
    with pytest.raises(error, match=text):
        epsflow.plot.heatmap(made, quantity)


# ---------------------------------------------------------------- distances and sizes


@pytest.mark.parametrize("k", [1, 4, 15])
def test_distances_are_sorted_and_have_their_knee(k):
    X = blobs(1000)
    distances = epsflow.k_distance(X, k)
    knee, (low, high) = epsflow.knee(distances), epsflow.eps_range(distances)
    for ax in (epsflow.plot.k_distance(X, k), epsflow.plot.k_distance(distances, k)):
        mark, curve = ax.lines
        np.testing.assert_allclose(curve.get_ydata(), np.sort(distances))
        np.testing.assert_allclose(curve.get_xdata(), 100 * np.arange(1, len(X) + 1) / len(X))
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (100 * knee.share, knee.distance)
        band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
        np.testing.assert_allclose([band.y0, band.y1], [low, high])
        assert ax.get_yscale() == "log"
        assert ax.get_ylabel() == f"distance to the {k}{'st' if k == 1 else 'th'} nearest point"


def test_long_curves_are_thinned_to_their_ends():
    distances = np.random.default_rng(0).lognormal(size=50_000)
    curve = epsflow.plot.k_distance(distances).lines[1]
    assert len(curve.get_xdata()) == 2000 and curve.get_ydata()[-1] == distances.max() and curve.get_xdata()[-1] == 100
    assert set(curve.get_ydata()) <= set(distances)


def test_distances_of_several_k_and_units():
    X = np.random.default_rng(0).uniform([5, 40], [6, 41], (300, 2))
    ax = epsflow.plot.k_distance(X, [2, 8], metric="greatcircle", metric_params={"unit": "km"})
    assert ax.get_ylabel() == "distance to the k-th nearest point (km)" and not ax.patches
    assert [text.split(",")[0] for text in words(ax.get_legend().get_texts())] == ["k = 2", "k = 8"]
    assert epsflow.plot.k_distance(epsflow.k_distance(X), unit="m").get_ylabel().endswith("(m)")


@pytest.mark.parametrize(
    ("draw", "values", "text"),
    [
        ("k_distance", np.array([]), "no points"),
        ("k_distance", np.zeros(2), "all distances are 0"),
        ("sizes", np.array([], int), "no points"),
        ("sizes", np.array([-1, -1]), "no clusters: all 2 points are noise"),
    ],
)
def test_what_has_nothing_to_draw_says_so(draw, values, text):
    assert words(getattr(epsflow.plot, draw)(values).texts) == [text]


def test_what_are_no_distances_is_refused():
    draw, distances, two = epsflow.plot.k_distance, np.array([1.0, 2.0]), pyplot.subplots(1, 2)[1]
    check_refused(
        (lambda: draw(np.array([1.0, -1.0])), ValueError, "distances have -1.0; they are 0 or more"),
        (lambda: draw(distances, [3, 4]), ValueError, "X is distances of one k, and k names 2"),
        (lambda: draw(distances, ax=two), TypeError,
         "ax is of type ndarray; it is the axes of a figure: take one of them"),
    )


def test_sizes_are_counted_without_bins():
    labels = np.repeat([0, 1, 2, 3, 9, -1], [5, 5, 40, 700, 1, 30])
    ax = epsflow.plot.sizes(labels)
    (line,) = ax.lines
    assert list(zip(line.get_xdata(), line.get_ydata())) == [(1, 5), (5, 4), (40, 2), (700, 1)]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.get_title(loc="left") == "5 clusters, without 30 points of noise"
    of_one = epsflow.plot.sizes([0] * 50)  # its axes have room beside the cluster
    assert of_one.get_xlim()[0] < 50 < of_one.get_xlim()[1] and of_one.get_ylim()[0] < 1 < of_one.get_ylim()[1]


# ---------------------------------------------------------------- bars


EPS = np.geomspace(0.1, 4, 25)


@pytest.mark.parametrize(
    ("min_samples", "given", "shown"), [(5, {}, "{n} bars"), (3, {"most": 4}, "the 4 weightiest of {n} bars")]
)
def test_bars_are_those_of_the_lineage_or_the_weightiest_of_them(min_samples, given, shown):
    lineage = epsflow.lineage(blobs(), EPS, [3, 5])
    bars = lineage.bars(min_samples=min_samples)
    end = EPS[-1] * EPS[-1] / EPS[-2]
    spans = [
        (size * np.log(min(death, end) / birth), birth, min(death, end))
        for size, birth, death in zip(bars["size"], bars["birth"], bars["death"])
    ]
    spans.sort(reverse=True)
    assert spans[3][0] > spans[4][0]  # the first four are well-defined
    ax = epsflow.plot.lifetimes(lineage, min_samples=min_samples, **given)
    drawn = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches)
    np.testing.assert_allclose(drawn, sorted(span[1:] for span in spans[: given.get("most")]))
    assert ax.get_title(loc="left") == f"min_samples {min_samples}: {shown.format(n=len(bars))} of clusters"
    assert ax.get_xscale() == "log"
    if not given:
        assert len(ax.lines[0].get_xdata()) == np.isinf(bars["death"]).sum()  # arrows


def test_a_life_ends_in_the_one_that_holds_its_points():
    X = blobs(400, seed=4)
    result = epsflow.sweep(X, EPS, [4], core=True, lineage=True)
    bars = _bars_of(result, None)
    parents = parents_of(result.lineage, 4, bars.table)
    table = bars.table
    assert (parents == -1).sum() == np.isinf(table["death"]).sum() and (parents >= 0).sum() > 3
    for life, parent in enumerate(parents):
        if parent < 0:
            continue
        position = table["death_place"][life]
        labels = result.variant(EPS[position], 4).labels
        # Both points are in one cluster there.
        assert labels[table["first_core"][life]] == labels[table["first_core"][parent]]
        before = result.variant(EPS[position - 1], 4).labels
        assert before[table["first_core"][life]] != before[table["first_core"][parent]]
        assert table["birth_place"][parent] <= table["birth_place"][life] and table["death_place"][parent] > position


def test_lines_of_a_tree_lead_to_their_parents_and_do_not_cross():
    lineage = epsflow.lineage(blobs(400, seed=4), EPS, [4])
    bars = lineage.bars(min_samples=4)
    ax = epsflow.plot.merges(lineage, min_samples=4, most=1000)
    segments = [np.asarray(segment) for segment in ax.collections[0].get_segments()]
    assert len(segments) == len(bars) and ax.get_yscale() == "log"
    assert sorted(segment[0][1] for segment in segments) == pytest.approx(sorted(bars["birth"]))
    columns = {segment[0][0]: segment for segment in segments}
    assert sorted(columns) == list(range(len(bars)))
    assert [tick.get_text() for tick in ax.get_xticklabels()] and len(ax.get_xticklabels()) == len(bars)
    for segment in segments:
        if len(segment) < 3:
            continue
        (x, _), (_, top), (target, _) = segment
        assert columns[target][0][1] <= top <= columns[target][1][1]  # the parent exists where the child ends
        for between in columns:
            if min(x, target) < between < max(x, target):
                assert not columns[between][0][1] < top < columns[between][1][1]
    # A tree of few bars has their parents as well.
    few = epsflow.plot.merges(lineage, min_samples=4, most=5).collections[0].get_segments()
    starts = {segment[0][0] for segment in few}
    assert all(segment[2][0] in starts for segment in few if len(segment) == 3) and len(few) >= 5


@pytest.mark.parametrize("name", ["lifetimes", "merges"])
def test_bars_of_explorations_and_sweeps(name):
    draw, X = getattr(epsflow.plot, name), blobs(600)
    found = epsflow.explore(X)
    ax = draw(found)
    assert ax.get_title(loc="left").startswith(f"min_samples {found.one_eps.min_samples}:")
    lines = [line for line in ax.lines if line.get_linestyle() == "--"]
    at = lines[0].get_xdata() if name == "lifetimes" else lines[0].get_ydata()
    assert at[0] == found.one_eps.eps
    core_alone = draw(epsflow.lineage(X, EPS, [4], keep="core"))
    said = core_alone.get_xlabel() if name == "merges" else core_alone.figure.axes[1].get_ylabel()
    assert "core points" in said
    assert words(draw(epsflow.lineage(X, [1e-6], [50])).texts) == ["no clusters at min_samples 50"]
    two, plain = epsflow.lineage(X, EPS, [3, 5]), epsflow.sweep(X, 0.3, 4)
    check_refused(
        (lambda: draw(plain), ValueError, "the sweep has no lineage: run it with lineage=True"),
        (lambda: draw(two), ValueError, "min_samples is left out, and the lineage has 3, 5: give one of them"),
        (lambda: draw(two, min_samples=7), KeyError, "min_samples=7 is in none of the variants"),
        (lambda: draw([1]), TypeError,
         "source is of type list; it is what epsflow.lineage or epsflow.explore returns"),
        (lambda: draw(found, most=0), ValueError, "most == 0, must be >= 1"),
    )


# ---------------------------------------------------------------- stages


def trace(*events):
    return {
        "traceEvents": [
            dict(zip(("name", "tid", "ts", "dur"), event), ph="X", pid=1, args={"eps": 0.1}) for event in events
        ]
    }


def test_stages_are_rows_with_a_line_for_each_thread():
    ax = epsflow.plot.stages(
        trace(("results", 0, 3e6, 1e5), ("build index", 0, 0, 1e6), ("build index", 1, 5e5, 1e6), ("sort", 0, 1, 20))
    )
    assert label(ax.yaxis) == ["build index  2 s", "sort  20 µs", "results  100 ms"]
    boxes = [path.get_extents() for bars in ax.collections for path in bars.get_paths()]
    np.testing.assert_allclose([(box.x0, box.x1) for box in boxes], [(0, 1), (0.5, 1.5), (1e-6, 2.1e-5), (3, 3.1)])
    assert boxes[0].y1 <= boxes[1].y0 and ax.get_xlabel() == "time (s)"
    assert ax.yaxis_inverted()


def test_the_trace_of_a_sweep(program, tmp_path):
    np.save(tmp_path / "x.npy", blobs())
    succeeded(program("sweep", tmp_path / "x.npy", "--eps", "0.2,0.4", "--minpts", 4, "--out", tmp_path / "out"))
    file = tmp_path / "out" / "trace.json"
    events = json.loads(file.read_text())["traceEvents"]
    axes = [epsflow.plot.stages(given) for given in (tmp_path / "out", file, {"traceEvents": events})]
    names = {text.split("  ")[0] for text in label(axes[0].yaxis)}
    assert names == {event["name"] for event in events} and "build index" in names
    assert label(axes[0].yaxis) == label(axes[1].yaxis) == label(axes[2].yaxis)
    assert sum(len(bars.get_paths()) for bars in axes[0].collections) == len(events)


def test_what_is_no_trace_is_refused(tmp_path):
    draw, no_trace = epsflow.plot.stages, "is no trace of epsflow, or is damaged"
    (tmp_path / "a.json").write_text("{")
    check_refused(
        (lambda: draw(tmp_path), FileNotFoundError, "has no trace.json: `epsflow sweep"),
        (lambda: draw(tmp_path / "a.json"), ValueError, f"a.json {no_trace}"),
        (lambda: draw({}), ValueError, f"trace {no_trace}: KeyError: 'traceEvents'"),
        (lambda: draw(3), TypeError, "trace is 3, of type int; it is a path"),
    )
    for tid in (0.5, "1", True):
        event = {"ph": "X", "name": "sort", "ts": 0, "dur": 1, "tid": tid}
        with pytest.raises(ValueError, match=f"trace {no_trace}: TypeError: a tid is no whole number"):
            draw({"traceEvents": [event]})


def test_all_pictures_have_one_style_and_leave_none_behind():
    before = dict(matplotlib.rcParams)
    X = blobs()
    axes = [
        epsflow.plot.heatmap(epsflow.sweep(X, [0.1, 0.2], [3, 5])), epsflow.plot.sizes([0, 0, 1]),
        epsflow.plot.stages(trace(("sort", 0, 1, 20))),
    ]
    assert {ax.xaxis.label.get_color() for ax in axes} == {"#333333"}
    assert not any(ax.spines["top"].get_visible() for ax in axes)
    assert dict(matplotlib.rcParams) == before
    with style():
        matplotlib.interactive(True)  # the notebook backend does this when the first figure is made
    assert matplotlib.is_interactive()
    matplotlib.interactive(before["interactive"])
    figure, given = pyplot.subplots()
    assert epsflow.plot.sizes([0, 0], ax=given) is given and len(figure.axes) == 1
