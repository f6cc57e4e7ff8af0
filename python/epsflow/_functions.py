"""The functions that are called with points: each loads them and does what the method of `Dataset` does that has its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._catalog import catalog_on_gpu, catalog_on_host
from ._engine import Dataset, Engine, engine_for, of_the_cpu
from ._explore import Exploration
from ._frames import metric_of
from ._gpu_arrays import as_gpu_points, is_on_gpu
from ._k_distance import as_ks
from ._lineage import Lineage, as_kept
from ._parameters import as_eps, as_flag, as_options, as_variants
from ._plan import EpsPlan
from ._precomputed import as_distances, is_precomputed, made_dense, refuse_beside, refuse_beyond_table
from ._sweep import SweepResult, sweep_distances, sweep_on_gpus, sweep_options, sweep_over_ranks
from ._tables import as_frame
from ._tasks import ProgressOption
from ._units import Given, as_given


def sweep(
    X: Any,
    eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    core: bool = False,
    keep: str = "labels",
    lineage: bool = False,
    output: str = "numpy",
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    gpus: str | Iterable[int] | None = None,
    comm: Any = None,
    engine: Engine | None = None,
    strategy: str = "auto",
    index: str = "auto",
    decide: str = "auto",
) -> SweepResult:
    """DBSCAN of X under every eps with every min_samples.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        float32 and float64 in C order are not copied, unless a metric moves them, and nothing is written to. Also tables of pandas,
        polars, Arrow, xarray and astropy, and points of geopandas and astropy; angles with a unit are converted to that of the metric.
        Arrays on a GPU (CuPy, PyTorch, JAX, Numba) are clustered where they are, by the euclidean metric. Sparse points are made dense,
        within the memory and with a notice. With metric="precomputed", X is a square matrix of distances, see there.
    eps : float, or several
        The distance within which points are neighbours, itself included. May be a quantity of astropy: results carry it as a number,
        in the unit of the metric, or of X.
    min_samples : int, or several
        Points within eps that make a core point, itself counted.
    variants : iterable of (eps, min_samples), optional
        Instead of eps and min_samples, where not every eps goes with every min_samples.
    metric : {"euclidean", "greatcircle", "haversine", "cosine", "manhattan", "chebyshev", "minkowski", "l1", "cityblock", "l2"}
        "l1" and "cityblock" are "manhattan", "l2" is "euclidean". "greatcircle": longitude and latitude in degrees. "haversine":
        latitude, longitude and eps in radians, as scikit-learn has it. "cosine": 1 - the cosine of the angle between two vectors. Of a
        table, the columns that are named as longitude and latitude (lon and lat, ra and dec, l and b, …)
        are found, in whichever order and among others; names that contradict each other, and several pairs, are errors. Two columns
        of other names, or of none, are longitude and latitude in this order, of haversine latitude and longitude. Longitudes lie
        from -360 to 720 degrees, latitudes from -90 to 90. Also "precomputed": X holds distances, dense or as a sparse matrix of
        those that are at most the largest eps, as `epsflow.neighbors` and `epsflow.read_neighbors` give it; they must be symmetric, and
        eps is rounded to float32 where they are. On the CPU.
    metric_params : dict, optional
        Of "greatcircle", "unit" of eps: "deg", "arcmin", "arcsec", "rad" or "km" (on an earth with a radius of 6371.0088 km). Of it
        and of "haversine", "latitude_first": which of two columns comes first, whatever their names are. Of norms, "scale": a factor for each column;
        "box": the sides of a periodic box, each its length (from 0 on), its two ends, or None where it is open, one for each column
        or one for all, in the unit that X has before it is scaled; and of "minkowski" "p".
    sample_weight : float or array of shape (n_samples,), optional
        A point is core where the weights of the points within eps sum to min_samples.
    core : bool
        Keep which points are core.
    keep : {"labels", "summary"}
        What is kept of each variant: its labels and counts, or its counts alone, which takes less time and memory.
    lineage : bool
        Also find how the clusters of the variants lie in each other, `SweepResult.lineage`. `epsflow.lineage` finds that alone.
    output : {"numpy", "cupy", "torch", "jax", "dlpack"}
        All but the first leave labels on the GPU, as arrays of that library.
    progress : bool or callable, optional
        True for a bar, or a function that takes an `epsflow.Progress`.
    backend : {"auto", "cpu", "gpu"}
    memory : int or str, optional
        Bytes that the run may hold, or a text such as "8GiB"; labels, 4 bytes per point and variant, come on top.
    threads : int, optional
    gpus : str or iterable of int, optional
        GPUs that share the sweep: "all", or their numbers, as [0, 1] or "0,1". Each takes some of the eps. Points that no GPU can hold
        go through them part by part.
    comm : mpi4py.MPI.Intracomm, optional
        Every process of it calls the function at once, with a share of the points, X, and the same parameters otherwise. Labels are those of
        this share, with the numbers that one run over all points gives, in the order of the processes; counts are of all points, and the
        lineage is with the first process. On the CPU, unless gpus names one for each process of a machine. memory and threads are of each
        process: by default its share of half the memory, and of the processors. An error on one is raised on all.
    engine : Engine, optional
        What backend, memory and threads belong to, made before.
    strategy : {"auto", "table", "direct"}
        Whether points are clustered by a table of all neighbours. This, and what follows, changes the time and no label; `epsflow.plan`
        says which ways are taken.
    index : {"auto", "grid", "tree", "all"}
        Where candidates for neighbours come from.
    decide : {"auto", "scalar", "tensor64", "tensor16"}
        How they are decided, in many dimensions.

    Returns
    -------
    SweepResult
        It holds X itself, for `SweepResult.labelled` and `SweepResult.save`.

    Raises
    ------
    ValueError, TypeError
        For parameters and points that cannot be.
    MemoryError
        Where memory is too small.
    RuntimeError
        For a GPU where none can be used.

    Warns
    -----
    UserWarning
        Where every eps is an angle as large as the field, which is likely in another unit.

    Examples
    --------
    >>> result = epsflow.sweep(X, eps=[0.1, 0.2, 0.3], min_samples=[5, 10, 20])
    >>> result.labels(eps=0.2, min_samples=10)
    """
    ways = {"strategy": strategy, "index": index, "decide": decide}
    if comm is not None:

        def prepare() -> Any:
            if is_precomputed(metric):
                raise ValueError("comm beside metric='precomputed': distances are clustered by one process; leave one of them out")
            if gpus is not None and backend == "cpu":
                raise TypeError("gpus beside backend='cpu': leave one of them out")
            if engine is not None or backend == "gpu":
                raise TypeError("comm beside engine, or backend='gpu': each process makes an engine of its own, with a GPU that gpus names for it")
            share = as_given(made_dense(X, memory), metric, metric_params)
            run = sweep_options(core, keep, output, **ways)
            return share, as_variants(eps, min_samples, variants, share.unit), as_options(backend=backend, memory=memory, threads=threads), run

        return sweep_over_ranks(comm, prepare, gpus, sample_weight, lineage, progress)
    if is_precomputed(metric):
        kept = {"keep": keep != "labels", "lineage": as_flag(lineage, "lineage")}
        beside = {name: way != "auto" for name, way in ways.items()}
        refuse_beside({"metric_params": metric_params is not None, **kept, "output": output != "numpy", "gpus": gpus is not None, **beside})
        asked = as_variants(eps, min_samples, variants)
        of_run = of_the_cpu(engine, backend, memory, threads)
        distances = as_distances(X)
        refuse_beyond_table(X, [e for e, _ in asked])
        return sweep_distances(distances, asked, sample_weight, as_flag(core, "core"), progress, of_run)
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    run = sweep_options(core, keep, output, **ways)
    if gpus is not None:
        if engine is not None or backend not in ("auto", "gpu"):
            raise TypeError("gpus beside engine, or backend='cpu': gpus have engines of their own; leave one of them out")
        shared = as_options(memory=memory, threads=threads)
        return sweep_on_gpus(given, asked, gpus, shared, run, sample_weight, as_flag(lineage, "lineage"), progress)
    options: dict[str, Any] = {"core": core, "keep": keep, "lineage": as_flag(lineage, "lineage"), "output": output, **ways}
    data = Dataset(engine_for(engine, given, backend, memory, threads, run=run), given)
    return data.sweep(variants=asked, sample_weight=sample_weight, progress=progress, **options)


def plan(
    X: Any,
    eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    strategy: str = "auto",
    index: str = "auto",
    decide: str = "auto",
) -> list[EpsPlan]:
    """What `epsflow.sweep` would do, and why. Each index is built, and on the CPU a sample of the points clustered, to tell the time.

    Parameters
    ----------
    X, eps, min_samples, variants, metric, metric_params, sample_weight, backend, memory, threads, engine, strategy, index, decide
        As `epsflow.sweep` takes them.

    Returns
    -------
    list of EpsPlan
        One for each eps, the largest first, as the sweep would take them. `pandas.DataFrame` makes a table of it.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, but not for a table that does not fit.

    Examples
    --------
    >>> for p in epsflow.plan(X, eps=[0.1, 0.2], min_samples=[5, 10]):
    ...     print(p.eps, p.strategy, p.because, p.bytes, p.seconds)
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    ways = {"strategy": strategy, "index": index, "decide": decide}
    data = Dataset(engine_for(engine, given, backend, memory, threads, run=as_options(**ways)), given)
    return data.plan(variants=asked, sample_weight=sample_weight, **ways)


def lineage(
    X: Any,
    eps: float | Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    variants: Iterable[tuple[float, int]] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    keep: str = "summary",
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    strategy: str = "auto",
    index: str = "auto",
    decide: str = "auto",
) -> Lineage:
    """The clusters of every eps with every min_samples and how they lie in each other, without labels.

    It takes less time and memory than `epsflow.sweep`, which makes the labels. Labels of single variants are had by it afterwards.

    Parameters
    ----------
    X, eps, min_samples, variants, metric, metric_params, sample_weight, progress, backend, memory, threads, engine, strategy, index, decide
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    keep : {"summary", "core"}
        "core" finds out less, in less time: which points are core and how their clusters lie in each other, not which of the others are
        border points and which noise. Then tables have no columns n_noise, n_border, largest and size, and `Lineage.relative_validity`
        is not to be had; everything else is the same.

    Returns
    -------
    Lineage

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does.

    Examples
    --------
    >>> lineage = epsflow.lineage(X, eps=numpy.geomspace(0.01, 1, 40), min_samples=[5, 10, 20])
    >>> lineage.lives(min_samples=10)
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    asked = as_variants(eps, min_samples, variants, given.unit)
    ways = {"strategy": strategy, "index": index, "decide": decide}
    kept = as_kept(keep)
    data = Dataset(engine_for(engine, given, backend, memory, threads, run=as_options(**ways)), given)
    return data.lineage(variants=asked, sample_weight=sample_weight, keep=kept, progress=progress, **ways)


def explore(
    X: Any,
    eps: Iterable[float] | None = None,
    min_samples: int | Iterable[int] | None = None,
    *,
    seconds: float | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Exploration:
    """Find eps and min_samples that show the clusters of X, if it has some.

    It sweeps a grid of eps and min_samples and scores each cell by how long its clusters live along eps, in units of what chance
    explains. The answer depends on the points and the metric alone: the order of the points, the machine and the backend change nothing.

    Parameters
    ----------
    X, metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    eps : iterable of float, optional
        The grid's, at least two in even ratios, as `numpy.geomspace` gives them. As `epsflow.suggest` has them where they are left out.
    min_samples : int or iterable of int, optional
        The grid's. As `epsflow.suggest` has them where they are left out.
    seconds : float, optional
        A bound on the time, once the points are loaded and the grid is known where one of eps and min_samples is given. Every fourth eps
        or so is swept first, and those between them while there is time; what is found is that of the eps swept, and the same as without
        a bound if there is time for all. The flags "coarse" and "unfinished" tell what was left out.
    sample_weight : float or array of shape (n_samples,), optional
        A point is core where the weights of the points within eps sum to min_samples, as `epsflow.sweep` has it; none below 0. It is
        no number of copies: clusters and noise are measured by how many points they have.
    progress : bool or callable, optional
        As `epsflow.sweep` takes it, of the run that is under way: there are about twenty, and the sweep of the grid is the longest.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does; ValueError also for eps in uneven ratios, for weights below 0, and where min_samples is left out and
        the mean weight is below one half, and where `seconds` are over before the first eps are swept.

    Examples
    --------
    >>> found = epsflow.explore(X)
    >>> found
    >>> labels = found.recommended.labels
    """
    data = _load(X, metric, metric_params, backend, memory, threads, engine)
    return data.explore(eps, min_samples, seconds=seconds, sample_weight=sample_weight, progress=progress)


def suggest(
    X: Any,
    *,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample_weight: Any = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> tuple[list[float], list[int]]:
    """The grid of eps and min_samples that `epsflow.explore` sweeps, for sweeps of one's own.

    Parameters
    ----------
    X, metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    sample_weight, progress
        As `epsflow.explore` takes them.

    Returns
    -------
    eps : list of float
        40, ascending, in even ratios: from where hardly any point is core to where almost all are one cluster.
    min_samples : list of int
        Up to 10, ascending, from 3 to a twentieth of the points, at most 200; of points with weights, this times their mean weight.
        Both are empty for fewer than 10 points, and where all points are equal.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does; ValueError also for weights below 0, and where their mean is below one half.

    Examples
    --------
    >>> eps, min_samples = epsflow.suggest(X)
    >>> result = epsflow.sweep(X, eps, min_samples)
    """
    data = _load(X, metric, metric_params, backend, memory, threads, engine)
    return data.suggest(sample_weight=sample_weight, progress=progress)


def neighbors(
    X: Any,
    eps: float,
    *,
    distances: bool = False,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    progress: ProgressOption = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """All neighbours of all points within eps, each point its own.

    Parameters
    ----------
    X, metric, metric_params, progress, backend, memory, threads, engine
        As `epsflow.sweep` takes them.
    eps : float
        A distance of exactly eps counts.
    distances : bool
        Whether to compute the distances, in the unit of eps: of "greatcircle" that which metric_params names, of "haversine" radians,
        else that of the coordinates.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        Rows sorted, offsets of 64 bits; its values are True, or the distances (a distance of 0 is stored as one). Where SciPy is not
        there, a tuple (offsets, ids) or (offsets, ids, distances) of arrays.

        With distances, `epsflow.sweep` takes it by metric="precomputed", under every eps up to its own. That is its attribute
        epsflow_eps, a float; larger ones are refused. What SciPy makes of it, a copy, too, has no such attribute, and nothing is refused.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does.

    Examples
    --------
    >>> table = epsflow.neighbors(X, 0.3, distances=True)
    >>> result = epsflow.sweep(table, [0.1, 0.2, 0.3], 10, metric="precomputed")
    """
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    eps = as_eps(eps, given.unit)
    return Dataset(engine_for(engine, given, backend, memory, threads), given).neighbors(eps, distances=distances, progress=progress)


def k_distance(
    X: Any,
    k: int | Iterable[int] = 4,
    *,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    backend: str = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> NDArray[np.float64]:
    """The distance of each point to its k-th nearest other point: from that eps on the point is core with min_samples = k + 1.

    Parameters
    ----------
    X, metric, metric_params, backend, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    k : int or iterable of int
        Which of the nearest other points, from 1 to n_samples - 1. Several come from one search.

    Returns
    -------
    ndarray of shape (n_samples,), or (n_samples, len(k)) for several k
        In the unit of eps, by float64.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, and ValueError for a k that there are too few points for, and for a distance so small beside the largest
        coordinates that float64 does not hold powers of both.

    See Also
    --------
    knee, eps_range : What the distances say about eps.

    Examples
    --------
    >>> distances = epsflow.k_distance(X, 4)
    >>> labels = epsflow.DBSCAN(epsflow.knee(distances).distance, min_samples=5).fit_predict(X)
    >>> plt.plot(np.sort(distances))
    """
    ks = as_ks(k)
    return _load(X, metric, metric_params, backend, memory, threads, engine).k_distance(ks if np.iterable(k) else ks[0])


def selectivity(
    X: Any,
    eps: float | Iterable[float],
    *,
    sample: int = 10_000,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """How many neighbours points have on average at each eps, from one search of a sample. It works on the CPU.

    Parameters
    ----------
    X, metric, metric_params, memory, threads, engine
        As `epsflow.sweep` takes them. metric="precomputed" is none of the metrics here.
    eps : float or iterable of float
        In any order.
    sample : int
        Points whose neighbours are counted, at least 2. Where there are no more points than that, all are, and the figures are exact.

    Returns
    -------
    table
        A row per eps, in the order given, with the columns eps, n_neighbors (per point, the point itself not counted) and error (its
        standard error): a pandas.DataFrame where pandas is there, else a structured array.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As `epsflow.sweep` does, and ValueError for a sample of fewer than 2.

    Examples
    --------
    >>> epsflow.selectivity(X, np.geomspace(*epsflow.eps_range(epsflow.k_distance(X, 4)), 20))
    """
    return _load(X, metric, metric_params, "cpu", memory, threads, engine).selectivity(eps, sample=sample)


def catalog(
    X: Any,
    labels: Any,
    *,
    core: Any = None,
    weights: Any = None,
    columns: dict[str, Any] | Iterable[str] | None = None,
    metric: str = "euclidean",
    metric_params: dict[str, Any] | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """What a labelling says of each of its clusters, a row for each.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
        As `epsflow.sweep` takes it. Of an array on a GPU the catalogue is made there, by any metric; labels and other arrays are read where they
        are, too.
    labels : array of shape (n_samples,), or an object with labels
        As `epsflow.compare` takes them: -1 for noise. Of a variant or an estimator which points are core is taken as well, where it
        knows them.
    core : array of bool of shape (n_samples,), optional
        Which points are core.
    weights : array of shape (n_samples,), optional
        Masses, of 0 and more, by which centres, spreads and radii are weighted.
    columns : dict of str to array, or list of str, optional
        What else to sum up of each cluster: further columns by name, or, where X is a table, names of its columns. NaN counts for nothing.
    metric, metric_params
        As `epsflow.sweep` takes them. In a periodic box a cluster across a face is in one piece; on a sphere centres are mean directions.
    threads : int, optional
    engine : Engine, optional
        On the GPU that X is on, made before.

    Returns
    -------
    table
        A pandas.DataFrame, or a structured array where pandas is not there: cluster, size; core and first_core (where core points are
        known); weight_total (with weights); of each coordinate NAME_center, NAME_spread (standard deviation), NAME_lower and NAME_upper;
        radius, the root mean square of the distances to the centre, in the unit of eps; of each further column NAME_mean, NAME_sum,
        NAME_min and NAME_max.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `epsflow.sweep` and `epsflow.compare` do, and ValueError for weights below 0 and for columns of another length or that are
        not numbers.

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


def _load(
    X: Any,
    metric: str,
    metric_params: dict[str, Any] | None,
    backend: str,
    memory: int | str | None,
    threads: int | None,
    engine: Engine | None,
) -> Dataset:
    given = as_given(made_dense(X, memory, engine), metric, metric_params)
    return Dataset(engine_for(engine, given, backend, memory, threads), given)
