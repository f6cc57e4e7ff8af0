"""The functions that take points. Each loads the points and calls the method of `Dataset` with its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._catalog import catalog_on_gpu, catalog_on_host
from ._docs import documented
from ._engine import Dataset, Engine, cpu_options, engine_for
from ._explore import Exploration
from ._frames import metric_of
from ._gpu_arrays import as_gpu_points, is_on_gpu
from ._hierarchy import Hierarchy, hierarchies_of_distances
from ._labelled import as_frame
from ._lineage import Lineage
from ._parameters import as_flag, as_options, as_variants
from ._plan import EpsPlan
from ._precomputed import as_distances, check_exclusive, is_precomputed, refuse_beyond_table, to_dense
from ._sweep import Asked, SweepResult, asked_of, sweep_distances, sweep_on_gpus, sweep_options, sweep_over_ranks
from ._tasks import ProgressOption
from ._units import Input, parse_input


@documented
def sweep(
    X: Any, eps: float | Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    core: bool = False, keep: str = "labels", lineage: bool = False, output: str = "numpy",
    progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None,
    gpus: str | Iterable[int] | None = None, comm: Any = None, engine: Engine | None = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> SweepResult:
    """Run DBSCAN on X with every eps and every min_samples.

    Parameters
    ----------
    {X}
        With metric="precomputed", X is a square matrix of distances.
    {eps} {min_samples} {variants} {metric}
        Also "precomputed": X holds distances, dense or as a sparse matrix of the distances up to the largest eps, as
        `epsflow.neighbors` (with distances=True) and `epsflow.read_neighbors` return it. The matrix must be symmetric.
        If it is float32, eps is rounded to float32. It is clustered on the CPU.
    {metric_params} {sample_weight} {core} {keep}
    lineage : bool
        Whether to also compute how the clusters of the variants are nested (`SweepResult.lineage`). Weights must then
        be at least 0. `epsflow.lineage` computes it without labels.
    output : {"numpy", "cupy", "torch", "jax", "dlpack"}
        All values except "numpy" leave labels on the GPU, as arrays of that library ("dlpack": as objects that any
        library with DLPack can take).
    {progress} {backend} {memory} {threads}
    gpus : str or iterable of int, optional
        The GPUs that share the sweep: "all", or their numbers, as [0, 1] or "0,1". Each takes some of the eps. If the
        points do not fit on one GPU, or if they are many and the eps are few, each takes parts of space instead.
    comm : mpi4py.MPI.Intracomm, optional
        Every process of comm calls the function at the same time, with its share of the points as X (and of
        sample_weight) and otherwise the same parameters. Labels are returned for this share. They equal the labels of
        one run over all shares in the order of the processes. Counts are of all points; only the first process has the
        lineage. The sweep runs on the CPU, unless gpus names one GPU for each process of a machine. memory and threads
        apply to each process; the defaults are its share of half the memory and of the processors. An error on one
        process is raised on all, on the others as RuntimeError.
    {engine} {ways}

    Returns
    -------
    SweepResult
        It keeps a reference to X, for `SweepResult.labelled`, `save` and `report`, and `VariantResult.catalog`.

    {errors}

    Warns
    -----
    UserWarning
        If every eps is an angle at least as large as the field of the points, because its unit is probably another one.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=[0.1, 0.2, 0.3], min_samples=[5, 10, 20])
    >>> result.labels(eps=0.2, min_samples=10)
    """
    ways = {"strategy": strategy, "index": index, "decide": decide}
    kept: dict[str, Any] = {"core": core, "keep": keep, "output": output, **ways}
    told: dict[str, Any] = {"sample_weight": sample_weight, "lineage": lineage, "progress": progress}
    if comm is not None:

        def prepare() -> tuple[Asked, dict[str, Any]]:
            if is_precomputed(metric):
                raise ValueError(
                    "comm beside metric='precomputed': distances are clustered by one process; leave one of them out"
                )
            if gpus is not None and backend == "cpu":
                raise TypeError("gpus beside backend='cpu': leave one of them out")
            if engine is not None or backend == "gpu":
                raise TypeError(
                    "comm beside engine, or backend='gpu': each process makes an engine of its own, with a GPU that "
                    "gpus names for it"
                )
            share = parse_input(to_dense(X, memory), metric, metric_params)
            asked = asked_of(share, (eps, min_samples, variants), **told, **kept)
            return asked, as_options(backend=backend, memory=memory, threads=threads)

        return sweep_over_ranks(comm, prepare, gpus)
    if is_precomputed(metric):
        beside = {"metric_params": metric_params is not None, "keep": keep != "labels"}
        beside.update(lineage=as_flag(lineage, "lineage"), output=output != "numpy", gpus=gpus is not None)
        check_exclusive({**beside, **{name: way != "auto" for name, way in ways.items()}})
        pairs = as_variants(eps, min_samples, variants)
        of_run = cpu_options(engine, backend, memory, threads)
        distances = as_distances(X)
        refuse_beyond_table(X, [e for e, _ in pairs])
        return sweep_distances(distances, pairs, sample_weight, as_flag(core, "core"), progress, of_run)
    if gpus is not None:
        given = parse_input(to_dense(X, memory, engine), metric, metric_params)
        asked = asked_of(given, (eps, min_samples, variants), **told, **kept)
        if engine is not None or backend not in ("auto", "gpu"):
            raise TypeError(
                "gpus beside engine, or backend='cpu': gpus have engines of their own; leave one of them out"
            )
        return sweep_on_gpus(asked, gpus, as_options(memory=memory, threads=threads))
    data = _of(X, metric, metric_params, (backend, memory, threads, engine), sweep_options(**kept))
    return data.sweep(eps, min_samples, variants=variants, **told, **kept)


@documented
def plan(
    X: Any, eps: float | Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> list[EpsPlan]:
    """Return what `epsflow.sweep` would do, and why, without doing it.

    Each index is built. On the CPU a sample of the points is clustered to estimate the time.

    Parameters
    ----------
    {X} {eps} {min_samples} {variants} {distance} {sample_weight} {machine} {ways}

    Returns
    -------
    list of EpsPlan
        One for each eps, the largest first, in the order of the sweep. `pandas.DataFrame` makes a table of it.

    {errors}
        A table that does not fit into the memory is not an error here.

    Examples
    --------
    >>> for p in epsflow.plan(X, eps=[0.1, 0.2], min_samples=[5, 10]):
    ...     print(p.eps, p.strategy, p.because, p.bytes, p.seconds)
    """
    ways = {"strategy": strategy, "index": index, "decide": decide}
    data = _of(X, metric, metric_params, (backend, memory, threads, engine), as_options(**ways))
    return data.plan(eps, min_samples, variants=variants, sample_weight=sample_weight, **ways)


@documented
def lineage(
    X: Any, eps: float | Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    keep: str = "summary", progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> Lineage:
    """Compute the clusters of every eps with every min_samples and how they are nested, without labels.

    It takes less time and memory than `epsflow.sweep`, which can then be called for the labels of single variants.

    Parameters
    ----------
    {X} {eps} {min_samples} {variants} {distance} {sample_weight}
        Here weights must be at least 0.
    keep : {"summary", "core"}
        "core" computes only the core points and how their clusters are nested, in less time. Border points and noise
        are not distinguished, so tables have no columns n_noise, n_border, largest and size, and
        `Lineage.relative_validity` is not available. Everything else is the same.
    {progress} {machine} {ways}

    Returns
    -------
    Lineage

    {errors}

    Examples
    --------
    >>> lineage = epsflow.lineage(X, eps=numpy.geomspace(0.01, 1, 40), min_samples=[5, 10, 20])
    >>> lineage.bars(min_samples=10)
    """
    ways = {"strategy": strategy, "index": index, "decide": decide}
    data = _of(X, metric, metric_params, (backend, memory, threads, engine), as_options(**ways))
    told: dict[str, Any] = {"sample_weight": sample_weight, "keep": keep, "progress": progress, **ways}
    return data.lineage(eps, min_samples, variants=variants, **told)


@documented
def explore(
    X: Any, eps: Iterable[float] | None = None, min_samples: int | Iterable[int] | None = None, *,
    seconds: float | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> Exploration:
    """Find the clusters of X, if it has any, without being given eps.

    It sweeps a grid of eps and min_samples, whose cells score highly if their clusters persist over a wider range of
    log(eps) than chance explains. Each cluster of the best cell then grows to the widest eps, at most 1.5 times the eps
    of the cell, before it merges with another one; but none grows if more than 15 % of the points are noise. If a finer
    set of clusters, into which these split, scores better as a whole, it is recommended instead. Without `seconds`, the
    recommendation does not depend on the machine, the backend, or the order of the points, except for the numbers of
    clusters and for border points between two clusters.

    Parameters
    ----------
    {X}
    eps : iterable of float, optional
        The eps of the grid: at least two, in even ratios, as `numpy.geomspace` returns them. The default is the list
        of `epsflow.suggest`.
    min_samples : int or iterable of int, optional
        The min_samples of the grid. The default is the list of `epsflow.suggest`.
    seconds : float, optional
        A bound on the time after the points are loaded. The time to compute the default grid counts if neither eps nor
        min_samples is given; the time to compute only one of them does not. The eps are swept in rounds of even ratios:
        first at least 10 eps (all if there are fewer), of the default grid about every fourth, then the eps between
        them while there is time. The result is as if the swept eps were the grid. The flags "coarse" and "unfinished"
        report omissions.
    {distance} {sample_weight}
        Here weights must be at least 0. A weight is not a number of copies: the sizes of clusters and noise are counted
        in points.
    {progress}
        It counts the variants of the grid. The time before, in which a default grid is computed, is not reported.
    {machine}

    Returns
    -------
    Exploration

    {errors}
    ValueError
        Also if eps are not in even ratios, if a weight is below 0, if eps or min_samples is left out and the mean
        weight, which the default min_samples are multiplied by, is below one half, and if `seconds` are over before the
        first round of eps is swept.

    Examples
    --------
    >>> found = epsflow.explore(X)
    >>> found
    >>> labels = found.recommended.labels
    """
    data = _of(X, metric, metric_params, (backend, memory, threads, engine))
    return data.explore(eps, min_samples, seconds=seconds, sample_weight=sample_weight, progress=progress)


@documented
def suggest(
    X: Any, *,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> tuple[list[float], list[int]]:
    """Return the grid of eps and min_samples that `epsflow.explore` sweeps by default.

    Parameters
    ----------
    {X} {distance} {sample_weight}
        Here weights must be at least 0.
    {progress} {machine}

    Returns
    -------
    eps : list of float
        About 40 values of three significant digits, ascending, in nearly even ratios: from hardly any core point to
        almost all points in one cluster.
    min_samples : list of int
        Up to 10 values, ascending, from 3 to a twentieth of the points, at most 200; for few points the largest value
        is larger. If there are weights, the values are multiplied by the mean weight and rounded. Both lists are empty
        if there are fewer than 10 points, or if every point is at distance 0 from at least two others.

    {errors}
    ValueError
        Also if a weight is below 0 or the mean weight is below one half.

    Examples
    --------
    >>> eps, min_samples = epsflow.suggest(X)
    >>> result = epsflow.sweep(X, eps, min_samples)
    """
    data = _of(X, metric, metric_params, (backend, memory, threads, engine))
    return data.suggest(sample_weight=sample_weight, progress=progress)


@documented
def neighbors(
    X: Any, eps: float, *, distances: bool = False,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> Any:
    """Return all neighbours of all points within eps. Each point is a neighbour of itself.

    Parameters
    ----------
    {X}
    eps : float
        The maximum distance between two neighbours. A distance of exactly eps counts.
    distances : bool
        Whether to compute the distances. They are in the unit of eps: for "cosine" they are 1 - the cosine, for
        "haversine" in radians, and with "scale" in the unit of the scaled columns.
    {distance} {progress} {machine}

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        Rows are sorted, and offsets have 64 bits. The values are True, or the distances; a distance of 0 is stored
        explicitly. If SciPy is not installed, a tuple (offsets, ids) or (offsets, ids, distances) of arrays.

        With distances, the matrix can be given to `epsflow.sweep` with metric="precomputed" and every eps up to the eps
        of the matrix. This eps is stored in the attribute epsflow_eps (float), and larger ones are refused. SciPy does
        not give the attribute to copies and other results; for them no eps is refused.

    {errors}

    Examples
    --------
    >>> table = epsflow.neighbors(X, 0.3, distances=True)
    >>> result = epsflow.sweep(table, [0.1, 0.2, 0.3], 10, metric="precomputed")
    """
    data = _of(X, metric, metric_params, (backend, memory, threads, engine))
    return data.neighbors(eps, distances=distances, progress=progress)


@documented
def k_distance(
    X: Any, k: int | Iterable[int] = 4, *,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> NDArray[np.float64]:
    """Return the distance of each point to its k-th nearest other point.

    From this eps on the point is core with min_samples = k + 1.

    Parameters
    ----------
    {X}
    k : int or iterable of int
        The rank of the other point, from 1 to n_samples - 1. Several ranks come from one search.
    {distance} {machine}

    Returns
    -------
    ndarray of shape (n_samples,), or (n_samples, len(k)) for several k
        In the unit of eps, computed in float64.

    {errors}
    ValueError
        Also if there are too few points for a k, and if a distance is so small compared with the largest coordinates
        that float64 cannot hold the powers of both.

    See Also
    --------
    knee, eps_range : Derive eps from the distances.

    Examples
    --------
    >>> distances = epsflow.k_distance(X, 4)
    >>> labels = epsflow.DBSCAN(epsflow.knee(distances).distance, min_samples=5).fit_predict(X)
    >>> plt.plot(np.sort(distances))
    """
    return _of(X, metric, metric_params, (backend, memory, threads, engine)).k_distance(k)


@documented
def hierarchy(
    X: Any, min_samples: int | Iterable[int] = 5, *,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, sample_weight: Any = None,
    output: str = "numpy", progress: ProgressOption = None,
    backend: str = "auto", memory: int | str | None = None, threads: int | None = None, engine: Engine | None = None,
) -> Hierarchy | list[Hierarchy]:
    """Return all clusters of every eps: the hierarchy of HDBSCAN*, exact, and the same for any order of rows.

    It runs on a GPU if the engine has one, the metric is euclidean, greatcircle, haversine or cosine, without a box,
    sample_weight is None, and min_samples is at most 257. Otherwise, and if the memory of the GPU does not suffice, it
    runs on the CPU. Both make the same trees, bit for bit.

    Parameters
    ----------
    {X}
    min_samples : int or iterable of int
        The number of samples in a neighborhood for a point to be considered as a core point. This includes the point
        itself. Several values share one search.
    {distance}
        Also "precomputed": X holds symmetric distances, on the host, of shape (n_samples, n_samples), dense or sparse.
        Pairs that a sparse X does not list are never neighbors: parts without a path between them stay apart, as the
        children of one last node at an infinite eps, and a sample with fewer than min_samples entries is never core.
        One thread of the CPU makes a tree for each min_samples; memory is not limited.
    {sample_weight}
        Here weights must be at least 0. Sizes of clusters are numbers of samples all the same.
    output : {"numpy", "cupy", "torch", "jax", "dlpack"}
        All values except "numpy" leave the labels and probabilities of `CondensedTree.select` on the GPU, as arrays of
        that library ("dlpack": as objects that any library with DLPack can take). Each selection then makes its tree on
        the GPU again, from X, which must not be changed. Only the clusters of the condensed tree are copied to the host
        for it. Everything else, such as core distances and `Hierarchy.cut`, is in host memory, where the tree is made
        when it is first read. The metric must be euclidean, and sample_weight None.
    {progress} {machine}

    Returns
    -------
    Hierarchy, or a list of them for several min_samples

    {errors}
    ValueError
        Also if a min_samples is larger than n_samples, or than the sum of sample_weight, and if output needs a GPU that
        the engine does not have.

    See Also
    --------
    HDBSCAN : An estimator with the interface of scikit-learn.

    Examples
    --------
    >>> tree = epsflow.hierarchy(X, min_samples=10)
    >>> labels = tree.condense(min_cluster_size=25).select().labels
    >>> core_labels = tree.cut(0.3)
    >>> for tree in epsflow.hierarchy(X, min_samples=[5, 10, 20]):
    ...     print(tree.min_samples, len(tree.condense(50).select().persistence))
    """
    if is_precomputed(metric):
        beside = {"metric_params": metric_params is not None, "sample_weight": sample_weight is not None}
        check_exclusive({**beside, "output": output != "numpy"})
        cpu_options(engine, backend, memory, threads)
        return hierarchies_of_distances(as_distances(X), min_samples)
    run = as_options(output="host" if output == "numpy" else "device")
    data = _of(X, metric, metric_params, (backend, memory, threads, engine), run)
    return data.hierarchy(min_samples, sample_weight=sample_weight, output=output, progress=progress)


@documented
def selectivity(
    X: Any, eps: float | Iterable[float], *, sample: int = 10_000,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, memory: int | str | None = None,
    threads: int | None = None, engine: Engine | None = None,
) -> Any:
    """Return the mean number of neighbours at each eps, from one search of a sample. It runs on the CPU.

    Parameters
    ----------
    {points}
        Sparse points are made dense, within the memory limit and with a notice. Points on a GPU need an engine on that
        GPU, which copies them to the host.
    eps : float or iterable of float
        The values may be in any order.
    sample : int
        The number of points whose neighbours are counted, at least 2. If there are not more points than this, all are
        counted, the means are exact, and the errors are 0.
    {distance} {memory} {threads} {engine}

    Returns
    -------
    table
        One row per eps, in the given order and without repetition, with the columns eps, n_neighbors (the mean number,
        without the point itself) and error (its standard error): a pandas.DataFrame if pandas is installed, else a
        structured array.

    {errors}
    ValueError
        Also if sample is below 2.

    Examples
    --------
    >>> epsflow.selectivity(X, np.geomspace(*epsflow.eps_range(epsflow.k_distance(X, 4)), 20))
    """
    backend = "cpu" if engine is None else "auto"
    return _of(X, metric, metric_params, (backend, memory, threads, engine)).selectivity(eps, sample=sample)


@documented
def catalog(
    X: Any, labels: Any, *, core: Any = None, weights: Any = None,
    columns: dict[str, Any] | Iterable[str] | None = None,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """Return a table of the clusters of a labelling, one row per cluster.

    Parameters
    ----------
    {points}
        If X is on a GPU, the catalogue is computed there, with any metric. Labels and other arrays may be on a GPU in
        any case. Sparse points are an error.
    {labels}
        If labels is a variant or an estimator with core points, these are used as well.
    core : array of bool of shape (n_samples,), optional
        The mask of the core points.
    weights : array of shape (n_samples,), optional
        Masses of at least 0, which weight centres, spreads and radii.
    columns : dict of str to array, or list of str, optional
        Further columns to summarize for each cluster, by name. If X is a table, they may be names of its columns. NaN
        is ignored.
    {distance}
        In a periodic box, a cluster across a face is treated as one piece. On a sphere, centres are mean directions.
    {threads}
    engine : Engine, optional
        An engine on the GPU that X is on.

    Returns
    -------
    table
        A pandas.DataFrame, or a structured array if pandas is not installed, sorted by label, without noise, with these
        columns: cluster, size; core, the number of core points, and first_core, the row of the first one, -1 without
        one (if core points are known); weight_total (if there are weights); for each coordinate NAME_center,
        NAME_spread (standard deviation), NAME_lower and NAME_upper; radius, the root mean square of the distances to
        the centre, in the unit of eps; for each further column NAME_mean (unweighted), NAME_sum, NAME_min and NAME_max.
        Coordinates have the names of X's columns if X is a table of pandas or polars in which all columns are
        coordinates, else x, y and z, or x0, x1, … in more than three dimensions.

    {errors}
    ValueError
        Also if a weight is below 0, or if a column has another length or is not numeric.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=0.2, min_samples=10, core=True)
    >>> epsflow.catalog(X, result.variant(0.2, 10), columns={"vtec": vtec})
    """
    words = metric_of(X, metric, metric_params)
    if not is_on_gpu(X):
        if engine is not None:
            raise TypeError("engine is for an X that is on a GPU; on the host threads says how many work")
        return as_frame(catalog_on_host(X, words, labels, core, weights, columns, threads))
    points = as_gpu_points(X)
    made = engine_for(engine, Input(points, words), "auto", None, threads)
    return as_frame(catalog_on_gpu(made._engine, points, words, labels, core, weights, columns))


def _of(
    X: Any, metric: str, metric_params: dict[str, Any] | None, machine: tuple[Any, ...],
    run: dict[str, Any] | None = None,
) -> Dataset:
    """Returns points that are loaded when a method first needs them. machine: backend, memory, threads, engine. run:
    options of the run, on which the backend "auto" depends."""
    backend, memory, threads, engine = machine
    given = parse_input(to_dense(X, memory, engine), metric, metric_params)
    return Dataset(engine_for(engine, given, backend, memory, threads, run=run), given, is_lazy=True)
