"""The hierarchy of all clusters of one min_samples, and the clusters that HDBSCAN* selects in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from operator import index
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import as_weights
from ._gpu_arrays import OUTPUTS, as_output, require_gpu
from ._labelled import as_columns
from ._loaded import Loaded, method
from ._parameters import as_choice, as_count, as_counts
from ._precomputed import is_sparse, is_symmetric
from ._tasks import ProgressOption, made_by, python_errors

_NO_NODE = 2**32 - 1
_METHODS = ("eom", "leaf")


class Selection(NamedTuple):
    """Clusters selected in a condensed tree, numbered by their smallest sample.

    labels and probabilities are on a GPU if `epsflow.hierarchy` was called with an `output` other than "numpy": as
    arrays of that library, or for "dlpack" as objects that any library with DLPack can take.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The cluster of each sample, -1 for noise.
    probabilities : ndarray of shape (n_samples,)
        The strength with which each sample is a member of its cluster, from 0 to 1: 0 for noise, and, if a cluster ends
        at eps 0 as equal samples do, for its samples that leave before.
    persistence : ndarray of shape (n_clusters,)
        The stability of each cluster, relative to the largest possible for its size: from 0 to 1. It is 1 for all if
        any cluster of the tree ends at eps 0, or if none ends at a finite eps.
    nodes : ndarray of shape (n_clusters,)
        The row of each cluster in `CondensedTree.clusters`.
    """

    labels: Any
    probabilities: Any
    persistence: NDArray[np.float64]
    nodes: NDArray[np.intp]


def selection_options(
    cluster_selection_method: str, cluster_selection_epsilon: float, max_cluster_size: int | None,
    allow_single_cluster: bool,
) -> _core.SelectionOptions:
    """Returns the options of a selection. Raises as `CondensedTree.select`, except for a negative or NaN epsilon."""
    if cluster_selection_method not in _METHODS:
        words = ", ".join(_METHODS)
        raise ValueError(f"cluster_selection_method is {cluster_selection_method!r}; it is one of {words}")
    if max_cluster_size is not None and max_cluster_size < 1:
        raise ValueError(f"max_cluster_size is {max_cluster_size!r}; it is at least 1, or None for no limit")
    return _core.selection(
        cluster_selection_method, float(cluster_selection_epsilon), int(max_cluster_size or 0),
        bool(allow_single_cluster),
    )


class CondensedTree:
    """The clusters of at least min_cluster_size samples in a hierarchy, as `Hierarchy.condense` makes them.

    A cluster is followed from a large eps down. If two or more parts with enough samples separate at one eps, they are
    new clusters, and the cluster ends. If one part has enough samples, the cluster goes on in it, and the other samples
    leave it. If none has, the cluster ends.
    """

    _selected: NDArray[np.intp] | None = None
    """The rows in `clusters` that a fitted HDBSCAN has selected, if the tree belongs to one."""

    def __init__(self, hierarchy: Hierarchy, min_cluster_size: int) -> None:
        self.hierarchy = hierarchy
        self.min_cluster_size = min_cluster_size
        with python_errors():
            _core.check_min_cluster_size(min_cluster_size, len(hierarchy))
        if not isinstance(hierarchy, _HierarchyOnGpu):
            self._tree  # noqa: B018

    @cached_property
    def _tree(self) -> Any:
        return made_by(self.hierarchy._tree.start_condense, self.min_cluster_size)

    def __reduce__(self) -> Any:
        return CondensedTree, (self.hierarchy, self.min_cluster_size), {"_selected": self._selected}

    @property
    def clusters(self) -> Any:
        """One row per cluster, as a pandas.DataFrame if pandas is installed, else a dict of arrays.

        "parent": the row of the cluster that it separated from, -1 for the first row, which is the root. "birth" and
        "death": the eps at which it begins and ends, coming from large eps; birth of the root is infinite. "size": its
        samples at its birth. "stability": the sum of 1/eps - 1/birth over these; each leaves the cluster at its eps.
        """
        parents = np.asarray(self._tree.parents).astype(np.int64)
        parents[parents == _NO_NODE] = -1
        return as_columns({
            "parent": parents, "birth": self._tree.births, "death": self._tree.deaths, "size": self._tree.sizes,
            "stability": self._tree.stabilities,
        })

    @property
    def last_cluster(self) -> NDArray[np.uint32]:
        """[n_samples] the row in `clusters` of the smallest cluster that holds each sample."""
        return np.asarray(self._tree.cluster_of)

    @property
    def leaves_at(self) -> NDArray[np.float64]:
        """[n_samples] the eps at which each sample leaves its `last_cluster`, coming from large eps. Every sample is at
        least in the root."""
        return np.asarray(self._tree.leaves_at)

    def to_numpy(self) -> NDArray[Any]:
        """Return the tree as the package hdbscan has it: a structured array with a row per sample and per cluster. The
        root has no row, because it has no parent.

        "parent" and "child": samples are numbered from 0, and clusters from n_samples in the order of `clusters`.
        "lambda_val": 1/eps at which the child leaves the parent. "child_size": the number of samples of the child.

        Returns
        -------
        ndarray of shape (n_samples + n_clusters - 1,)
            Sorted by parent, then by lambda_val.
        """
        n, clusters = len(self.leaves_at), len(np.asarray(self._tree.births))
        fields = [("parent", np.intp), ("child", np.intp), ("lambda_val", np.float64), ("child_size", np.intp)]
        rows = np.empty(n + clusters - 1, fields)
        with np.errstate(divide="ignore"):
            leaves = 1 / self.leaves_at, 1 / np.asarray(self._tree.births)[1:]
        rows["parent"] = np.concatenate([self.last_cluster, np.asarray(self._tree.parents)[1:]]).astype(np.intp) + n
        rows["child"] = np.concatenate([np.arange(n), np.arange(1, clusters) + n])
        rows["lambda_val"] = np.concatenate(leaves)
        rows["child_size"] = np.concatenate([np.ones(n, np.intp), np.asarray(self._tree.sizes)[1:]])
        return rows[np.lexsort((rows["child"], rows["lambda_val"], rows["parent"]))]

    def to_pandas(self) -> Any:
        """Return `to_numpy` as a pandas.DataFrame. Raises ImportError without pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_numpy())

    def select(
        self, cluster_selection_method: str = "eom", *, cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None, allow_single_cluster: bool = False,
    ) -> Selection:
        """Select clusters of which none is inside another.

        Parameters
        ----------
        cluster_selection_method : {"eom", "leaf"}
            "eom" (excess of mass) selects the clusters with the largest total stability, "leaf" the clusters that do
            not split (the root does not count).
        cluster_selection_epsilon : float
            Selected clusters that are born below this eps are merged into the clusters that they separated from.
        max_cluster_size : int, optional
            "eom" selects no cluster with more samples.
        allow_single_cluster : bool
            Whether the root may be selected.

        Returns
        -------
        Selection

        Raises
        ------
        ValueError, TypeError
            If a parameter is invalid, or if `epsflow.hierarchy` was called with `output` and the GPU cannot make the
            labels.
        """
        options = selection_options(
            cluster_selection_method, cluster_selection_epsilon, max_cluster_size, allow_single_cluster
        )
        if isinstance(self.hierarchy, _HierarchyOnGpu):
            return self.hierarchy.select(self.min_cluster_size, options)
        found = made_by(self._tree.start_select, options)
        return Selection(found.labels, found.probabilities, found.persistence, np.asarray(found.nodes).astype(np.intp))

    def exemplars(self, nodes: Any) -> list[NDArray[np.intp]]:
        """Return the samples at which clusters are densest.

        Of each cluster without children that one of `nodes` is or contains, these are the samples that leave it last.

        Parameters
        ----------
        nodes : sequence of int
            Rows of `clusters` of which none is inside another, such as `Selection.nodes`.

        Returns
        -------
        list of ndarray
            Samples of each of the clusters, in ascending order.

        Raises
        ------
        ValueError, TypeError
            If a row does not exist, or if a cluster is inside another or given twice.
        """
        nodes = np.array([index(node) for node in nodes], np.intp)
        parents = np.asarray(self._tree.parents)
        wrong = nodes[(nodes < 0) | (nodes >= len(parents))]
        if len(wrong):
            raise ValueError(f"nodes has {wrong[0]}; it has rows of clusters, from 0 to {len(parents) - 1}")
        label_of = self._labels_of_clusters(nodes)
        nested = [c for at, c in enumerate(nodes) if label_of[c] != at or (c > 0 and label_of[parents[c]] >= 0)]
        if nested:
            raise ValueError(f"cluster {nested[0]} of nodes is inside another, or given twice: leave it out")
        label_of[parents[1:]] = -1  # clusters with children
        last = self.leaves_at == np.asarray(self._tree.deaths)[self.last_cluster]
        labels = np.where(last, label_of[self.last_cluster], -1)
        return [np.flatnonzero(labels == label) for label in range(len(nodes))]

    def _labels_of_clusters(self, nodes: Any) -> NDArray[np.int32]:
        """Returns for each cluster of the tree the index in `nodes` of the cluster that it is or lies in, or -1 if
        there is none. nodes: rows of `clusters`."""
        parents = np.asarray(self._tree.parents)
        labels = np.full(len(parents), -1, np.int32)
        labels[nodes] = np.arange(len(nodes))
        for c in range(1, len(labels)):  # parents come first
            if labels[c] < 0:
                labels[c] = labels[parents[c]]
        return labels

    def outlier_scores(self) -> NDArray[np.float64]:
        """Return the GLOSH score of each sample, from 0 (as dense as its cluster becomes) to 1."""
        return np.asarray(made_by(self._tree.start_outlier_scores))

    def plot(self, **parameters: Any) -> Any:
        """Draw the tree with `epsflow.plot.condensed_tree`, which takes the parameters. Returns the axes.

        The tree of a fitted `HDBSCAN` marks the clusters of the model, other trees mark what `select` returns.
        """
        return import_module(".plot", __package__).condensed_tree(self, **parameters)


class Hierarchy:
    """All clusters of DBSCAN at one min_samples and every eps, as `epsflow.hierarchy` makes them: the tree of HDBSCAN*.

    Clusters that join at one eps are one node with all of them as children, so the tree is a function of the samples
    alone, whatever the order of rows. At any eps `cut` has exactly the core samples of DBSCAN's clusters.
    """

    def __init__(self, tree: Any) -> None:
        self._tree = tree

    def __len__(self) -> int:
        return len(self._tree)

    def __reduce__(self) -> Any:
        return _restored, (self.min_samples, self.core_distances, *self._tree.spanning_tree)

    @property
    def min_samples(self) -> int:
        return int(self._tree.min_samples)

    @property
    def core_distances(self) -> NDArray[np.float64]:
        """[n_samples] the smallest eps at which each sample is core."""
        return np.asarray(self._tree.core_distances)

    @property
    def nodes(self) -> Any:
        """One row per node, in ascending order of eps: a pandas.DataFrame, or a dict of arrays without pandas.

        "eps": the smallest eps at which its samples are connected. "parent": the node that it joins, -1 for the last.
        "size": its number of samples. "first": its smallest sample.
        """
        parents = np.asarray(self._tree.node_parents).astype(np.int64)
        parents[parents == _NO_NODE] = -1
        return as_columns({
            "eps": self._tree.node_eps, "parent": parents, "size": self._tree.node_sizes,
            "first": self._tree.node_first_ids,
        })

    @property
    def parents(self) -> NDArray[np.int64]:
        """The node that each sample joins first; -1 if there is only one sample."""
        parents = np.asarray(self._tree.parents).astype(np.int64)
        parents[parents == _NO_NODE] = -1
        return parents

    @property
    def spanning_tree(self) -> Any:
        """A minimum spanning tree of the mutual reachability, one row per edge, shortest first: "from" and "to", two
        samples, and "distance". A pandas.DataFrame, or a dict of arrays without pandas."""
        return as_columns(dict(zip(("from", "to", "distance"), self._tree.spanning_tree)))

    def cut(self, eps: float, min_cluster_size: int = 1) -> NDArray[np.int32]:
        """Return the labels [n_samples] of DBSCAN at an eps for core samples, and -1 for all other samples.

        Clusters of fewer than min_cluster_size core samples become -1, too. The others are numbered by their first
        sample.

        Raises ValueError if eps is negative or NaN.
        """
        least = as_count(min_cluster_size, "min_cluster_size")
        return np.asarray(made_by(self._tree.start_cut, float(eps), least))

    def linkage_matrix(self) -> NDArray[np.float64]:
        """Return SciPy's linkage matrix, [n_samples - 1, 4]. A node with k children is k - 1 rows of one distance."""
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in made_by(self._tree.start_linkage)])

    def condense(self, min_cluster_size: int = 5) -> CondensedTree:
        """Return the tree of the clusters with at least min_cluster_size samples, from 2 to n_samples.

        Raises ValueError for another number.
        """
        return CondensedTree(self, as_count(min_cluster_size, "min_cluster_size"))


class _HierarchyOnGpu(Hierarchy):
    """A hierarchy whose selections leave labels on a GPU. The library holds a tree there only while it makes it, so
    each selection makes the tree again. The tree on the host is made when it is first read."""

    def __init__(self, data: Loaded, min_samples: int, output: str) -> None:
        self._data = data
        self._min_samples = min_samples
        self._output = output

    @cached_property
    def _tree(self) -> Any:
        return made_by(_core.start_hierarchy, self._data._data, [self._min_samples], None)[0]

    def __len__(self) -> int:
        return len(self._data)

    @property
    def min_samples(self) -> int:
        return self._min_samples

    def select(self, min_cluster_size: int, options: _core.SelectionOptions) -> Selection:
        """Returns clusters of the condensed tree, with labels on the GPU. Raises ValueError if the GPU does not make
        the labels, as with a box, min_samples above 257, equal points, or too little memory."""
        sizes = self._min_samples, min_cluster_size
        found = made_by(_core.start_hdbscan, self._data._data, *sizes, options, True)
        if found.gpu_labels is None:
            raise ValueError(
                f"output={self._output!r} leaves labels on a GPU, and these were made on the host, because of a box,"
                f" min_samples={self._min_samples}, equal points or the memory of the GPU: leave output out"
            )
        labels = as_output(lambda: found.gpu_labels, "<i4", self._output)
        probabilities = as_output(lambda: found.gpu_probabilities, "<f8", self._output)
        return Selection(labels, probabilities, found.persistence, np.asarray(found.nodes).astype(np.intp))


class SingleLinkageTree:
    """A hierarchy with the functions of the package hdbscan: the attribute single_linkage_tree_ of `HDBSCAN`."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy

    def to_numpy(self) -> NDArray[np.float64]:
        """Return `Hierarchy.linkage_matrix`."""
        return self.hierarchy.linkage_matrix()

    def to_pandas(self) -> Any:
        """Return the linkage matrix as a pandas.DataFrame: "parent", "left_child", "right_child", "distance", "size".

        Samples are numbered from 0, and merges from n_samples. Raises ImportError without pandas.
        """
        import pandas as pd

        rows, n = self.to_numpy(), len(self.hierarchy)
        table = pd.DataFrame(rows, columns=["left_child", "right_child", "distance", "size"])
        table.insert(0, "parent", np.arange(n, n + len(rows)))
        return table.astype({"left_child": np.intp, "right_child": np.intp, "size": np.intp})

    def get_clusters(self, cut_distance: float, min_cluster_size: int = 5) -> NDArray[np.int32]:
        """Return the clusters of DBSCAN without border points, at a distance.

        Parameters
        ----------
        cut_distance : float
            Samples are connected if their mutual reachability distance is less than this, as in scikit-learn. (DBSCAN
            also connects samples at exactly eps: `Hierarchy.cut`.)
        min_cluster_size : int
            Clusters with fewer core samples become noise.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for samples that are not core, and for noise.

        Raises
        ------
        ValueError, TypeError
            If cut_distance is NaN, or if a parameter is not a number.
        """
        least = as_count(min_cluster_size, "min_cluster_size")
        if np.isnan(cut_distance):
            raise ValueError("cut_distance is nan; it is a number")
        if cut_distance > 0:
            return self.hierarchy.cut(float(np.nextafter(cut_distance, 0)), least)
        return np.full(len(self.hierarchy), -1, np.int32)

    def plot(self, axis: Any = None, truncate_mode: str | None = "lastp", p: int = 50, **parameters: Any) -> Any:
        """Draw the tree with `scipy.cluster.hierarchy.dendrogram`, which takes all parameters but `axis`.

        With the default truncate_mode, it draws the last p - 1 merges. axis: the axes to draw into; None for a new
        figure. Returns the axes of matplotlib.
        """
        return import_module(".plot._trees", __package__).dendrogram(self, axis, truncate_mode, p, **parameters)


class MinimumSpanningTree:
    """A minimum spanning tree of the mutual reachability, with the functions of the package hdbscan."""

    def __init__(self, hierarchy: Hierarchy, points: NDArray[Any] | None) -> None:
        self.hierarchy = hierarchy
        self._points = points

    def to_numpy(self) -> NDArray[np.float64]:
        """Return an array of shape (n_samples - 1, 3): both samples of each edge and their distance, shortest first."""
        return np.column_stack([np.asarray(column, np.float64) for column in self.hierarchy._tree.spanning_tree])

    def to_pandas(self) -> Any:
        """Return `Hierarchy.spanning_tree` as a pandas.DataFrame: the columns are "from", "to" and "distance".

        Raises ImportError if pandas is not installed.
        """
        import_module("pandas")
        return self.hierarchy.spanning_tree

    def plot(self, axis: Any = None) -> Any:
        """Draw the edges between samples of two columns. Returns the axes of matplotlib.

        axis: the axes to draw into; None for a new figure. Raises ValueError for samples of other numbers of
        columns, and for distances.
        """
        if self._points is None or self._points.shape[1] != 2:
            raise ValueError("only samples of two columns have a map on which their spanning tree is drawn: fit these")
        return import_module(".plot._trees", __package__).spanning_tree(self.to_numpy(), self._points, axis)


def _restored(*parts: Any) -> Hierarchy:
    return Hierarchy(made_by(_core.start_restored_hierarchy, *parts))


@method
def hierarchy_loaded(
    data: Loaded, min_samples: int | Iterable[int] = 5, *, sample_weight: Any = None, output: str = "numpy",
    progress: ProgressOption = None,
) -> Union[Hierarchy, list[Hierarchy]]:
    as_choice(output, "output", "numpy", OUTPUTS)
    require_gpu(output, data.engine.backend)
    weights = None if sample_weight is None else as_weights(sample_weight, len(data))
    asked = as_counts(min_samples, "min_samples")
    if output == "numpy":
        trees = made_by(_core.start_hierarchy, data._data, asked, weights, progress=progress)
        found = [Hierarchy(tree) for tree in trees]
    else:
        found = _left_on_gpu(data, asked, weights is not None, output)
    return found if np.iterable(min_samples) else found[0]


def _left_on_gpu(data: Loaded, asked: list[int], is_weighted: bool, output: str) -> list[Hierarchy]:
    """asked: the min_samples. Loads the points. Raises ValueError if the GPU makes no labels of such points."""
    metric = data._given.metric.name
    if metric != "euclidean" or is_weighted:
        raise ValueError(
            f"output={output!r} leaves labels on a GPU, and with"
            f" {'sample_weight' if is_weighted else f'metric={metric!r}'} they are made on the host: leave output out"
        )
    if max(asked) > len(data):
        raise ValueError(f"min_samples is {max(asked)}, and X has {len(data)} rows: use a number up to n_samples")
    data._data  # noqa: B018
    return [_HierarchyOnGpu(data, min_samples, output) for min_samples in asked]


def hierarchies_of_distances(distances: Any, min_samples: Any) -> Union[Hierarchy, list[Hierarchy]]:
    """Returns `epsflow.hierarchy` with metric="precomputed". distances: from as_distances(). Raises ValueError if they
    are not symmetric, negative or NaN, and for a min_samples above the number of samples."""
    if not ((distances.data if is_sparse(distances) else distances) >= 0).all():
        raise ValueError("X has distances that are negative or NaN: give distances from 0 on")
    if not is_symmetric(distances):
        raise ValueError("X is not symmetric: give each pair of samples one distance, such as the smaller one")
    asked, n = as_counts(min_samples, "min_samples"), distances.shape[0]
    if max(asked) > n:
        raise ValueError(f"min_samples is {max(asked)}, and X has {n} rows: use a number up to n_samples")
    found = [hierarchy_of_distances(distances, one) for one in asked]
    return found if np.iterable(min_samples) else found[0]


def hierarchy_of_distances(distances: Any, min_samples: int) -> Hierarchy:
    """Returns the hierarchy of symmetric distances: a square array, or a csr_array whose missing entries are infinite.
    min_samples: from 1 to the number of samples. Neither is checked: the caller does that."""
    if hasattr(distances, "indptr"):
        return Hierarchy(made_by(
            _core.start_graph_hierarchy, distances.indptr.astype(np.int64), distances.indices.astype(np.uint32),
            np.ascontiguousarray(distances.data, dtype=np.float64), min_samples,
        ))
    matrix = np.ascontiguousarray(distances, dtype=np.float64)
    return Hierarchy(made_by(_core.start_matrix_hierarchy, matrix, min_samples))
