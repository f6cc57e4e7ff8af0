"""The functions that are called with points: each loads them and calls the method of `Dataset` that has its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._catalog import catalog_on_gpu, catalog_on_host
from ._docs import documented
from ._engine import Dataset, Engine, engine_for, of_the_cpu
from ._explore import Exploration
from ._frames import metric_of
from ._gpu_arrays import as_gpu_points, is_on_gpu
from ._labelled import as_frame
from ._lineage import Lineage
from ._parameters import as_flag, as_options, as_variants
from ._plan import EpsPlan
from ._precomputed import as_distances, is_precomputed, made_dense, refuse_beside, refuse_beyond_table
from ._sweep import Asked, SweepResult, asked_of, sweep_distances, sweep_on_gpus, sweep_options, sweep_over_ranks
from ._tasks import ProgressOption
from ._units import Given, as_given


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
    """DBSCAN of X under every eps with every min_samples.

    Parameters
    ----------
    {X}
        With metric="precomputed", X is a square matrix of distances, see there.
    {eps} {min_samples} {variants} {metric}
        Also "precomputed": X holds distances, dense or as a sparse matrix of those that are at most the largest eps, as
        `epsflow.neighbors` and `epsflow.read_neighbors` give it; they must be symmetric, and eps is rounded to float32
        if they are. This is done on the CPU.
    {metric_params} {sample_weight}
    core : bool
        Whether to keep which points are core.
    keep : {"labels", "summary"}
        What is kept of each variant: its labels and counts, or its counts alone, which takes less time and memory.
    lineage : bool
        Whether to also find how the clusters of the variants lie in each other, `SweepResult.lineage`.
        `epsflow.lineage` finds that alone.
    output : {"numpy", "cupy", "torch", "jax", "dlpack"}
        All but the first leave labels on the GPU, as arrays of that library.
    {progress} {backend} {memory} {threads}
    gpus : str or iterable of int, optional
        GPUs that share the sweep: "all", or their numbers, as [0, 1] or "0,1". Each takes some of the eps. Points that
        no GPU can hold go through them part by part.
    comm : mpi4py.MPI.Intracomm, optional
        Every process of it calls the function at once, with a share of the points, X, and the same parameters
        otherwise. Labels are those of this share, with the numbers that one run over all points gives, in the order of
        the processes; counts are of all points, and the lineage is with the first process. It runs on the CPU, unless
        gpus names one for each process of a machine. memory and threads are of each process: by default its share of
        half the memory, and of the processors. An error on one is raised on all.
    {engine} {ways}

    Returns
    -------
    SweepResult
        It holds X itself, for `SweepResult.labelled` and `SweepResult.save`.

    Raises
    ------
    {errors}

    Warns
    -----
    UserWarning
        If every eps is an angle as large as the field, which is likely in another unit.

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
            share = as_given(made_dense(X, memory), metric, metric_params)
            asked = asked_of(share, (eps, min_samples, variants), **told, **kept)
            return asked, as_options(backend=backend, memory=memory, threads=threads)

        return sweep_over_ranks(comm, prepare, gpus)
    if is_precomputed(metric):
        beside = {"metric_params": metric_params is not None, "keep": keep != "labels"}
        beside.update(lineage=as_flag(lineage, "lineage"), output=output != "numpy", gpus=gpus is not None)
        refuse_beside({**beside, **{name: way != "auto" for name, way in ways.items()}})
        pairs = as_variants(eps, min_samples, variants)
        of_run = of_the_cpu(engine, backend, memory, threads)
        distances = as_distances(X)
        refuse_beyond_table(X, [e for e, _ in pairs])
        return sweep_distances(distances, pairs, sample_weight, as_flag(core, "core"), progress, of_run)
    if gpus is not None:
        given = as_given(made_dense(X, memory, engine), metric, metric_params)
        asked = asked_of(given, (eps, min_samples, variants), **told, **kept)
        if engine is not None or backend not in ("auto", "gpu"):
            raise TypeError("gpus beside engine, or backend='cpu': gpus have engines of their own; leave one of them out")
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
    """What `epsflow.sweep` would do, and why. Each index is built, and on the CPU a sample of the points is clustered,
    to tell the time.

    Parameters
    ----------
    {X} {eps} {min_samples} {variants} {distance} {sample_weight} {machine} {ways}

    Returns
    -------
    list of EpsPlan
        One for each eps, the largest first, as the sweep would take them. `pandas.DataFrame` makes a table of it.

    Raises
    ------
    {errors}
        A table that does not fit is no error here.

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
    """The clusters of every eps with every min_samples and how they lie in each other, without labels.

    It takes less time and memory than `epsflow.sweep`, which makes the labels and then gives those of single variants.

    Parameters
    ----------
    {X} {eps} {min_samples} {variants} {distance} {sample_weight}
    keep : {"summary", "core"}
        "core" finds out less, in less time: which points are core and how their clusters lie in each other, not which
        of the others are border points and which noise. Then tables have no columns n_noise, n_border, largest and
        size, and `Lineage.relative_validity` is not to be had; everything else is the same.
    {progress} {machine} {ways}

    Returns
    -------
    Lineage

    Raises
    ------
    {errors}

    Examples
    --------
    >>> lineage = epsflow.lineage(X, eps=numpy.geomspace(0.01, 1, 40), min_samples=[5, 10, 20])
    >>> lineage.lives(min_samples=10)
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
    """Find eps and min_samples that show the clusters of X, if it has some.

    It sweeps a grid of eps and min_samples and scores each cell by how long its clusters live along eps, in units of
    what chance explains. The answer depends on the points and the metric alone: the order of the points, the machine
    and the backend change nothing.

    Parameters
    ----------
    {X}
    eps : iterable of float, optional
        The grid's, at least two in even ratios, as `numpy.geomspace` gives them. The default is those of
        `epsflow.suggest`.
    min_samples : int or iterable of int, optional
        The grid's. The default is those of `epsflow.suggest`.
    seconds : float, optional
        A bound on the time, once the points are loaded and, if one of eps and min_samples is given, the grid is known.
        Every fourth eps or so is swept first, and those between them while there is time; what is found is that of the
        eps swept, and the same as without a bound if there is time for all. The flags "coarse" and "unfinished" tell
        what was left out.
    {distance} {sample_weight}
        Here no weight is below 0, and a weight is no number of copies: clusters and noise are measured by how many
        points they have.
    {progress}
        It is told of the run that is under way: there are about twenty, and the sweep of the grid is the longest.
    {machine}

    Returns
    -------
    Exploration

    Raises
    ------
    {errors}
    ValueError
        Also for eps in uneven ratios, for weights below 0, if min_samples is left out and the mean weight is below one
        half, and if `seconds` are over before the first eps are swept.

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
    """The grid of eps and min_samples that `epsflow.explore` sweeps, for sweeps of one's own.

    Parameters
    ----------
    {X} {distance} {sample_weight}
        Here no weight is below 0.
    {progress} {machine}

    Returns
    -------
    eps : list of float
        40, ascending, in even ratios: from where hardly any point is core to where almost all are one cluster.
    min_samples : list of int
        Up to 10, ascending, from 3 to a twentieth of the points, at most 200; of points with weights, this times their
        mean weight. Both are empty for fewer than 10 points, and if all points are equal.

    Raises
    ------
    {errors}
    ValueError
        Also for weights below 0, and if their mean is below one half.

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
    """All neighbours of all points within eps, each point its own.

    Parameters
    ----------
    {X}
    eps : float
        A distance of exactly eps counts.
    distances : bool
        Whether to compute the distances, in the unit of eps: of "greatcircle" that which metric_params names, of
        "haversine" radians, else that of the coordinates.
    {distance} {progress} {machine}

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        Rows are sorted, and offsets have 64 bits; its values are True, or the distances (a distance of 0 is stored as
        one). If SciPy is not there, a tuple (offsets, ids) or (offsets, ids, distances) of arrays.

        With distances, `epsflow.sweep` takes it by metric="precomputed", under every eps up to its own. That is its
        attribute epsflow_eps, a float; larger ones are refused. What SciPy makes of it, a copy, too, has no such
        attribute, and nothing is refused.

    Raises
    ------
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
    """The distance of each point to its k-th nearest other point: from that eps on the point is core with
    min_samples = k + 1.

    Parameters
    ----------
    {X}
    k : int or iterable of int
        Which of the nearest other points, from 1 to n_samples - 1. Several come from one search.
    {distance} {machine}

    Returns
    -------
    ndarray of shape (n_samples,), or (n_samples, len(k)) for several k
        In the unit of eps, by float64.

    Raises
    ------
    {errors}
    ValueError
        Also for a k that there are too few points for, and for a distance so small beside the largest coordinates that
        float64 does not hold powers of both.

    See Also
    --------
    knee, eps_range : What the distances say about eps.

    Examples
    --------
    >>> distances = epsflow.k_distance(X, 4)
    >>> labels = epsflow.DBSCAN(epsflow.knee(distances).distance, min_samples=5).fit_predict(X)
    >>> plt.plot(np.sort(distances))
    """
    return _of(X, metric, metric_params, (backend, memory, threads, engine)).k_distance(k)


@documented
def selectivity(
    X: Any, eps: float | Iterable[float], *, sample: int = 10_000,
    metric: str = "euclidean", metric_params: dict[str, Any] | None = None, memory: int | str | None = None,
    threads: int | None = None, engine: Engine | None = None,
) -> Any:
    """How many neighbours points have on average at each eps, from one search of a sample. It works on the CPU.

    Parameters
    ----------
    {X}
    eps : float or iterable of float
        In any order.
    sample : int
        Points whose neighbours are counted, at least 2. If there are no more points than that, all are, and the figures
        are exact.
    {distance} {memory} {threads} {engine}

    Returns
    -------
    table
        A row per eps, in the order given, with the columns eps, n_neighbors (per point, the point itself not counted)
        and error (its standard error): a pandas.DataFrame if pandas is there, else a structured array.

    Raises
    ------
    {errors}
    ValueError
        Also for a sample of fewer than 2.

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
    """What a labelling says of each of its clusters, a row for each.

    Parameters
    ----------
    {X}
        Of an array on a GPU the catalogue is made there, by any metric; labels and other arrays are read where they
        are, too.
    {labels}
        Of a variant or an estimator which points are core is taken as well, if it knows them.
    core : array of bool of shape (n_samples,), optional
        Which points are core.
    weights : array of shape (n_samples,), optional
        Masses, of 0 and more, by which centres, spreads and radii are weighted.
    columns : dict of str to array, or list of str, optional
        What else to sum up of each cluster: further columns by name, or, if X is a table, names of its columns. NaN
        counts for nothing.
    {distance}
        In a periodic box a cluster across a face is in one piece; on a sphere centres are mean directions.
    {threads}
    engine : Engine, optional
        On the GPU that X is on, made before.

    Returns
    -------
    table
        A pandas.DataFrame, or a structured array if pandas is not there: cluster, size; core and first_core (if core
        points are known); weight_total (with weights); of each coordinate NAME_center, NAME_spread (standard
        deviation), NAME_lower and NAME_upper; radius, the root mean square of the distances to the centre, in the unit
        of eps; of each further column NAME_mean, NAME_sum, NAME_min and NAME_max.

    Raises
    ------
    {errors}
    ValueError
        Also for weights below 0 and for columns of another length or that are not numbers.

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
    made = engine_for(engine, Given(points, words), "auto", None, threads)
    return as_frame(catalog_on_gpu(made._engine, points, words, labels, core, weights, columns))


def _of(
    X: Any, metric: str, metric_params: dict[str, Any] | None, machine: tuple[Any, ...],
    run: dict[str, Any] | None = None,
) -> Dataset:
    """Points that are loaded once a method needs them. machine: backend, memory, threads and engine."""
    backend, memory, threads, engine = machine
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    return Dataset(engine_for(engine, given, backend, memory, threads, run=run), given, is_lazy=True)
