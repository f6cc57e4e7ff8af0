"""Sweeps run every eps with every min_samples, in about the time of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._catalog import catalog_columns, names_of
from ._docs import documented
from ._gpu_arrays import OUTPUTS, as_output, require_gpu
from ._labelled import as_frame, labelled
from ._lineage import Lineage
from ._loaded import Loaded, method
from ._metrics import arguments_of
from ._parameters import as_choice, as_flag, as_options, as_variants, find_variant
from ._precomputed import cluster_distances
from ._ranks import Ranks
from ._report import Reported, catalog_hint, write_report
from ._results import Folder, FromPoints, Origin, Unchanging, save_folder, stored
from ._tasks import ProgressOption, in_order, python_errors, run_task
from ._units import Input, warn_of_unit

T = TypeVar("T")

KEPT = ("labels", "summary")


def _figure(name: str, kind: Callable[[Any], T]) -> T:
    """Returns a property of VariantResult: an attribute of the library's result, converted by `kind`."""
    return cast(T, property(lambda variant: kind(getattr(variant._result, name))))


class VariantResult(Unchanging):
    """The labels of one (eps, min_samples).

    Arrays are views of the memory of the run; on the host they are read-only. The result keeps a reference to X, for
    `catalog`, unless it was loaded or unpickled.

    Attributes
    ----------
    eps : float
    min_samples : int
    n_clusters, n_noise, n_core, n_border : int
        Number of clusters, and of points that are noise, core, or in a cluster and not core.
    largest : int
        Number of points of the largest cluster.
    seconds : float
        Wall time: the variant's own, and an even share of the time that the variants of its eps have in common.
    """

    def __init__(self, result: Any, output: str = "numpy", keep: str = "labels") -> None:
        self._result = result
        self._output = output
        self._keep = keep
        self._origin = Origin()

    eps = _figure("eps", float)
    min_samples = _figure("min_samples", int)
    n_clusters = _figure("clusters", int)
    n_noise = _figure("noise", int)
    n_core = _figure("core_count", int)
    n_border = _figure("border", int)
    largest = _figure("largest", int)
    seconds = _figure("seconds", float)

    @property
    def labels(self) -> Any:
        """[n] int32: the cluster of each point, -1 for noise. Clusters are numbered by their first core point.

        An ndarray; with `output` an array of that library, on the GPU. Raises ValueError if the sweep kept no labels
        (keep="summary")."""
        self._require_labels()
        if self._output == "numpy":
            return _read_only(self._result.labels)
        return as_output(lambda: self._result.gpu_labels, "<i4", self._output)

    @property
    def core(self) -> Any:
        """[n] bool: whether each point is core, in an array like `labels`. Raises ValueError unless the sweep kept it,
        as with core=True."""
        self._require_labels()
        on_host = self._output == "numpy"
        core = self._result.core if on_host else self._result.gpu_core
        if core is None or on_host and len(core) != len(self._result.labels):
            raise ValueError("the sweep did not keep which points are core: run it with core=True")
        if on_host:
            return _read_only(core.view(np.bool_))
        return as_output(lambda: self._result.gpu_core, "|b1", self._output)

    @property
    def core_sample_indices(self) -> NDArray[np.intp]:
        """Indices of the core points, ascending. Raises ValueError if the sweep did not keep them (core=True keeps
        them), or if the mask is on a GPU."""
        if self._output != "numpy":
            raise ValueError(f"output={self._output!r} leaves which points are core on the GPU: core is their mask")
        return np.flatnonzero(self.core)

    @property
    def catalog(self) -> Any:
        """One row per cluster, as `epsflow.catalog` returns it without weights, even if the sweep had some. (That
        function also takes weights, further columns and points on a GPU.)

        Raises ValueError if points or labels are on a GPU, if the result was loaded or unpickled (no points), if it is
        of distances or of a share of the points (comm), or if the sweep kept no labels."""
        self._require_labels()
        self._origin.require_whole("a catalogue")
        held, points = self._result, self._origin.points
        if self._output != "numpy" or not isinstance(points, np.ndarray) or self._origin.metric is None:
            why = (
                "was loaded or unpickled, and has no points" if points is None
                else "is of distances, and has no points" if self._origin.metric is None
                else "has its points or labels on a GPU"
            )
            raise ValueError(
                f"the result {why}: give the points that were swept, epsflow.catalog(X, variant), with the "
                "metric of the sweep"
            )
        core = np.asarray(held.core) if len(held.core) == len(held.labels) else None
        names = names_of(self._origin.table, points)
        return as_frame(catalog_columns(points, self._origin.metric, np.asarray(held.labels), core, names=names))

    def __reduce__(self) -> Any:
        return VariantResult, (stored(self._on_host("pickle", needs_labels=False)), "numpy", self._keep)

    def _require_labels(self) -> None:
        if self._keep == "labels":
            return
        raise ValueError(
            "the sweep kept counts alone, keep='summary', and no labels: those of this variant are had by sweeping it "
            f"on its own, epsflow.sweep(X, {self.eps!r}, {self.min_samples}), and those of all with keep='labels'"
        )

    def _on_host(self, purpose: str, needs_labels: bool = True) -> Any:
        """Returns the result of `_core` that this object wraps. purpose: a verb for the error, as "save". Raises
        ValueError if labels are on a GPU, or if they are needed and were not kept."""
        if needs_labels:
            self._require_labels()
        if self._output != "numpy":
            raise ValueError(
                f"output={self._output!r} leaves labels on the GPU: to {purpose} them, run the sweep without output"
            )
        return self._result

    def __repr__(self) -> str:
        return f"<eps={self.eps:g}, min_samples={self.min_samples}: {self.n_clusters} clusters, {self.n_noise} noise>"


def _read_only(array: Any) -> NDArray[Any]:
    """Returns a view that is not writeable and cannot be made so, because the array is saved with the result."""
    return np.asarray(memoryview(array).toreadonly())


_SUMMARY = {
    "eps": np.float64,
    **dict.fromkeys(("min_samples", "n_clusters", "n_noise", "n_core", "n_border", "largest"), np.int64),
    "seconds": np.float64,
}


@documented
class SweepResult(FromPoints):
    """All variants of a sweep, in the requested order. `len`, `for` and `[i]` work on them.

    Attributes
    ----------
    metric : str
        The metric of eps with its parameters, as in "greatcircle, eps in km", and "weighted" if points had weights.
    {input}
    lineage : Lineage or None
        How the clusters of the variants are nested. None if the sweep did not compute it (lineage=True), if a loaded
        folder has no lineage.npz, or on other processes of comm than the first. If `epsflow explore` wrote the folder,
        the lineage has all variants of the grid.
    """

    def __init__(
        self, variants: list[VariantResult], origin: Origin | None = None, unit: Any = None,
        lineage: Lineage | None = None,
    ) -> None:
        self._variants = variants
        self._unit = unit
        super().__init__(origin)
        self.lineage = lineage
        self._positions = {(v.eps, v.min_samples): i for i, v in enumerate(variants)}
        for variant in variants:
            variant._origin = self._origin

    @property
    def metric(self) -> str:
        under = self._origin.under if self.input is None else str(self.input.get("checksum", "")).partition(", ")[2]
        return under if under not in ("", "weighted") else ", ".join(part for part in ("euclidean", under) if part)

    @property
    def summary(self) -> Any:
        """One row per variant: a pandas.DataFrame if pandas is installed, else a structured array.

        The columns are eps, min_samples, n_clusters, n_noise, n_core, n_border, largest and seconds.
        """
        return as_frame(
            {name: np.array([getattr(v, name) for v in self._variants], kind) for name, kind in _SUMMARY.items()}
        )

    @documented
    def variant(self, eps: float, min_samples: int) -> VariantResult:
        """Return one variant.

        Parameters
        ----------
        {variant}

        Raises
        ------
        KeyError
            If the sweep does not have this variant.
        """
        return self._variants[find_variant(self._positions, eps, min_samples, self._unit)]

    def labels(self, eps: float, min_samples: int) -> Any:
        """Return the labels [n] of one variant, which is found as `variant` finds it."""
        return self.variant(eps, min_samples).labels

    def core_sample_indices(self, eps: float, min_samples: int) -> NDArray[np.intp]:
        """Return the indices of the core points of one variant, which is found as `variant` finds it, ascending."""
        return self.variant(eps, min_samples).core_sample_indices

    @documented
    def labelled(self, eps: float, min_samples: int, *, label_name: str = "label", core_name: str = "core") -> Any:
        """Return X with the labels of one variant as a further column.

        This object has a reference to X and no copy, so X must not have been changed since the sweep.

        Parameters
        ----------
        {variant}
        label_name, core_name : str
            The names of the new columns.

        Returns
        -------
        table
            A copy of X, if X is a table of pandas, polars, Arrow, xarray, astropy or geopandas, with a column of labels
            and, if the sweep kept it (core=True), a column that marks core points. If X is an array, a pandas.DataFrame
            with the columns x0, x1, …, or a structured array if pandas is not installed.

        Raises
        ------
        KeyError
            If the sweep does not have this variant.
        ValueError
            If X already has a column of this name, if both names are the same, if the sweep kept no labels, if points
            or labels are on a GPU, if X is sparse distances or has another number of rows by now, or if the result was
            loaded or unpickled and has no X.
        """
        held = self.variant(eps, min_samples)._on_host("put X beside")
        X = self._origin.points if self._origin.table is None else self._origin.table
        put = "put labels(eps, min_samples) beside"
        if X is None:
            raise ValueError(f"the result was loaded or unpickled, and has no X: {put} the points yourself")
        if hasattr(X, "tocsr"):
            raise ValueError(f"X is sparse distances, of which there is no table: {put} the points yourself")
        if not isinstance(X, np.ndarray) and self._origin.table is None:
            raise ValueError(f"X is on a GPU, and labelled() makes tables on the host: {put} a copy of it there")
        names = [as_choice(name, way, way[:-5]) for name, way in ((label_name, "label_name"), (core_name, "core_name"))]
        if names[0] == names[1]:
            raise ValueError(f"label_name and core_name are both {label_name!r}: give two names")
        columns = {names[0]: np.array(held.labels)}
        if len(held.core) == len(held.labels):
            columns[names[1]] = np.array(held.core).view(np.bool_)
        return labelled(X, columns)

    @documented
    def save(self, folder: Folder, *, overwrite: bool = False) -> None:
        """Write the folder that `epsflow sweep` writes: summary.csv, sweep.json, labels/….npy, core/….npy (core=True).

        `epsflow.load` reads it, and `epsflow sweep … --resume` on the same points adds to it, unless X was on a GPU.
        The checksum of X is computed now, so X must not have been changed; a result that was loaded or unpickled
        already has it. Files are written aside, and get their names when all are complete. The lineage is not saved.

        Parameters
        ----------
        folder : str or path
        {overwrite}

        Raises
        ------
        FileExistsError
            If the folder holds results and overwrite is False, or if a file that epsflow did not write has the name of
            the folder or of an output. Such a file is never touched.
        BlockingIOError
            If another process is writing the folder.
        ValueError
            If the folder has a run that was killed or interrupted, if sweep.json is damaged or epsflow did not write
            it, if there are no variants, if labels are on a GPU, if the sweep kept no labels, or if the points are a
            share of all (comm).
        OSError
            If the folder cannot be written.
        """
        self._origin.require_whole("a folder")
        held = [v._on_host("save") for v in self._variants]
        save_folder(folder, held, self._origin, as_flag(overwrite, "overwrite"))

    @documented
    def report(self, file: Folder, *, overwrite: bool = False) -> None:
        """Write a page for a browser: the grid as a heat map, and for each variant its map, sizes and largest clusters.

        The page is one file of at most 8 MiB. It needs no network and no server. With lineage=True it also shows the
        persistence of the clusters.

        Parameters
        ----------
        {page}

        {file_errors}
        ValueError
            If the name does not end in .html or .htm, if points or labels are on a GPU, if the points are a share of
            all (comm), if the sweep was of distances, or if the result was loaded or unpickled and has no points;
            `epsflow report FOLDER` reads them again.
        """
        origin = self._origin
        origin.require_whole("a report")
        if not isinstance(origin.points, np.ndarray) or origin.metric is None:
            why = "was loaded or unpickled, and has no points" if origin.points is None else "has no points on the host"
            raise ValueError(
                f"the result {why}: sweep the points again, or make the page of a results folder, "
                "`epsflow report FOLDER`"
            )
        asked = f"variants={[(v.eps, v.min_samples) for v in self._variants]}"
        eps, counts = (sorted({getattr(v, name) for v in self._variants}) for name in ("eps", "min_samples"))
        if len(eps) * len(counts) == len(self):
            asked = f"eps={eps}, min_samples={counts}"
        by = arguments_of(origin.metric)
        how = by + (", sample_weight=weights" if origin.weights else "")
        cells = [v._on_host("report", needs_labels=False) for v in self._variants]
        hints = (f"epsflow.explore(X{how}).report('explored.html')", catalog_hint(by, how))
        lineage = None if self.lineage is None else self.lineage._made
        tied = "" if lineage is None else ", lineage=True"
        command = f"epsflow.sweep(X, {asked}{how}{tied}).report({str(file)!r})"
        write_report(
            file, Reported(origin.points, origin.metric, self.metric, command, hints, origin.table, cells, lineage),
            overwrite,
        )

    def __reduce__(self) -> Any:
        # X is left out: save() needs only its checksum.
        n = self[0].n_noise + self[0].n_core + self[0].n_border if self._variants else 0
        input = None if self._origin.share else self._origin.described(n)  # only results of all points are saved
        origin = Origin(input=input, rows=self._origin.rows, offers=self._origin.offers, share=self._origin.share)
        return SweepResult, (self._variants, origin, self._unit, self.lineage)

    def __iter__(self) -> Iterator[VariantResult]:
        return iter(self._variants)

    def __len__(self) -> int:
        return len(self._variants)

    def __getitem__(self, i: int) -> VariantResult:
        return self._variants[i]

    def __repr__(self) -> str:
        return f"<epsflow.SweepResult of {len(self)} variants>"


@dataclass(frozen=True)
class Asked:
    """A requested sweep: its points and its checked parameters."""

    given: Input
    variants: list[tuple[float, int]]
    run: dict[str, Any]
    """Options of the run, as the library takes them."""
    weights: NDArray[np.float64] | None
    lineage: bool
    output: str
    progress: ProgressOption

    @property
    def points(self) -> _core.Points:
        points: Any = self.given.points
        return _core.Points(points, self.given.metric, weights=self.weights)

    @property
    def under(self) -> str:
        """Describes the metric, as in "greatcircle, eps in km"; with weights, ", weighted" follows. Results of
        different metrics have different texts. The text is empty for the plain Euclidean metric without weights."""
        with python_errors():
            metric = self.given.metric.text(self.given.points.shape[1])
        return ", ".join(part for part in (metric, "weighted" if self.weights is not None else "") if part)

    def run_by(self, start: Any, *arguments: Any, rank: int | None = None) -> SweepResult:
        """Runs the task that `start` starts with the arguments, and returns its result. rank: the rank of this process
        if it has a share of the points, else None; only rank 0 gets the lineage. Raises the errors of the library."""
        share, with_lineage = rank is not None, self.lineage and not rank
        if not share:
            warn_of_unit(self.given, min(e for e, _ in self.variants))
        results: list[Any] = []
        checksum, under = _checksum_of(self.weights), self.under
        task = run_task(start, *arguments, progress=self.progress, on_results=results.extend)
        points, metric, unit, table, *_ = self.given
        made = Lineage(task.take(), unit) if with_lineage else None
        origin = Origin(points=points, table=table, under=under, weights=checksum, metric=metric, share=share)
        found = in_order(results, self.variants).values()
        return SweepResult([VariantResult(one, self.output, self.run["keep"]) for one in found], origin, unit, made)


def sweep_options(core: Any, keep: Any, output: Any, **ways: str) -> dict[str, Any]:
    """Returns options of the run, as the library takes them. Raises TypeError, ValueError."""
    as_choice(output, "output", "numpy", OUTPUTS)
    as_choice(keep, "keep", "labels", KEPT)
    if keep == "summary":
        said = {"core": as_flag(core, "core"), "output": output != "numpy"}
        if beside := " and ".join(name for name, is_said in said.items() if is_said):
            raise ValueError(
                f"{beside} beside keep='summary', which keeps neither labels nor core points: leave {beside} out, or "
                "keep"
            )
    return as_options(core=core, keep=keep, output="host" if output == "numpy" else "device", **ways)


def asked_of(
    given: Input, variants: tuple[Any, Any, Any], sample_weight: Any, lineage: Any, progress: ProgressOption,
    **options: Any,
) -> Asked:
    """Returns a request with checked parameters. given: the points. variants: a tuple of three parameters of sweep(),
    (eps, min_samples, variants). options: every parameter of sweep_options(), by name. The other parameters are as in
    sweep(). Raises TypeError, ValueError if a parameter is invalid."""
    pairs, run = as_variants(*variants, given.unit), sweep_options(**options)
    with_lineage = as_flag(lineage, "lineage")
    weights = None if sample_weight is None else as_weights(sample_weight, int(given.points.shape[0]))
    return Asked(given, pairs, run, weights, with_lineage, options["output"], progress)


@method
def sweep_loaded(
    data: Loaded, eps: Any = None, min_samples: Any = None, *,
    variants: Iterable[tuple[float, int]] | None = None, sample_weight: Any = None, core: bool = False,
    keep: str = "labels", lineage: bool = False, output: str = "numpy", progress: ProgressOption = None,
    strategy: str = "auto", index: str = "auto", decide: str = "auto",
) -> SweepResult:
    kept: dict[str, Any] = {"core": core, "keep": keep, "output": output}
    kept.update(strategy=strategy, index=index, decide=decide)
    asked = asked_of(data._given, (eps, min_samples, variants), sample_weight, lineage, progress, **kept)
    require_gpu(output, data.engine.backend)
    if output != "numpy" and strategy == "table":
        raise ValueError(
            f"strategy='table' makes labels on the host, and output={output!r} leaves them on a GPU: leave one of them "
            "out"
        )
    start = _core.Dataset.start_sweep
    return asked.run_by(start, data._data, asked.variants, asked.run, asked.weights, asked.lineage)


def sweep_on_gpus(asked: Asked, gpus: Any, engine: dict[str, Any]) -> SweepResult:
    """Runs a sweep on several GPUs and returns the result. gpus: as `epsflow.sweep` takes it, not None. engine: options
    of each engine that shares the sweep. Raises ValueError if the points are on a GPU, if the output is not "numpy", or
    if gpus is empty; and the errors of `epsflow.sweep`, also if the machine has no such GPU."""
    if isinstance(asked.given.points, _core.GpuPoints):
        raise ValueError("gpus share points that are on the host, and these are on a GPU: leave gpus out, or copy them")
    if asked.output != "numpy":
        raise ValueError("output leaves labels on one GPU, and gpus share the sweep: leave one of them out")
    devices = (_words_of(gpus), engine)
    return asked.run_by(_core.start_shared_sweep, None, asked.points, asked.variants, devices, asked.run, asked.lineage)


def _words_of(gpus: Any) -> str:
    """Returns "all", or numbers of GPUs with commas. The library checks them. Raises ValueError if gpus is empty."""
    words = gpus if isinstance(gpus, str) else ",".join(str(gpu) for gpu in ([gpus] if isinstance(gpus, int) else gpus))
    if not words:
        raise ValueError("gpus names no GPU: give 'all', or numbers as in [0, 1]")
    return words


def sweep_over_ranks(comm: Any, prepare: Callable[[], tuple[Asked, dict[str, Any]]], gpus: Any) -> SweepResult:
    """Runs a sweep over the points of all processes of comm, and returns the results for the points of this process.
    Collective.

    prepare: a function that checks the arguments of this process, and returns the requested sweep and the options of
    the engine. If it, or a later step, fails on one process, that process raises the error, and the others raise
    RuntimeError that quotes it. gpus: None, or as `epsflow.sweep` takes it. Raises TypeError if comm is not a
    communicator of mpi4py, ValueError if the processes have different parameters, columns or units."""

    def prepared() -> tuple[Asked, tuple[str, dict[str, Any]]]:
        asked, engine = prepare()
        if isinstance(asked.given.points, _core.GpuPoints):
            raise ValueError("comm takes points that are on the host, and these are on a GPU: copy them")
        if asked.output != "numpy":
            raise ValueError("output leaves labels on one GPU, and comm brings them to the host: leave output out")
        if asked.run["strategy"] == "table":
            raise ValueError("strategy='table' is for one process: leave it, or comm, out")
        return asked, ("" if gpus is None else _words_of(gpus), engine)

    with Ranks(comm) as ranks:
        asked, devices = ranks.together(prepared)
        names, reference = asked.given.names, asked.given.reference
        of_X = {"the columns of X": names, "the units of X": str(reference) if any(reference[1]) else None}
        told = {"gpus": devices[0] != "", "sample_weight": asked.weights is not None, "lineage": asked.lineage}
        ranks.require_same({**told, **asked.run, **of_X})
        given = (asked.points, asked.variants, devices, asked.run, asked.lineage)
        return asked.run_by(ranks.start, *given, rank=ranks.rank)


def sweep_distances(
    distances: Any, asked: list[tuple[float, int]], sample_weight: Any, core: bool, progress: ProgressOption,
    options: dict[str, Any],
) -> SweepResult:
    """Sweeps as `epsflow.sweep` with "precomputed". distances: from as_distances(). options: from cpu_options()."""
    results = cluster_distances(distances, asked, sample_weight, core, progress, options)
    weights = None if sample_weight is None else as_weights(sample_weight, distances.shape[0])
    under = "precomputed" if weights is None else "precomputed, weighted"
    origin = Origin(points=distances, under=under, weights=_checksum_of(weights))
    return SweepResult([VariantResult(result) for result in results], origin)


def _checksum_of(weights: NDArray[np.float64] | None) -> str:
    return "" if weights is None else _core.checksum_of(weights.reshape(-1, 1))
