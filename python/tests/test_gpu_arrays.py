"""Tests arrays on a GPU with only the CUDA driver and two protocols, and errors if there is no GPU."""

import ctypes
import pickle
import time
from types import SimpleNamespace

import numpy as np
import pytest

from checks import check_attributes, check_refused
from gpu_libraries import LIBRARIES, fetched, needs_gpu, on_gpu

import epsflow
from epsflow import _estimator
from epsflow._gpu_arrays import as_gpu_points
from epsflow._metrics import EUCLIDEAN
from epsflow._results import Origin
from epsflow._units import Input


class CudaArray:
    """Has the interface of Numba's arrays."""

    def __init__(self, address, shape, dtype, **more):
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": shape, "typestr": np.dtype(dtype).str, "version": 3, **more,
        }

    def copy_to_host(self):
        described = self.__cuda_array_interface__
        found = np.empty(described["shape"], described["typestr"])
        to, size = found.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(found.nbytes)
        assert ctypes.CDLL("libcuda.so.1").cuMemcpyDtoH_v2(to, ctypes.c_uint64(described["data"][0]), size) == 0
        return found


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("number", ctypes.c_int)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class ManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(ManagedTensor))
ManagedTensor._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
address_in = ctypes.pythonapi.PyCapsule_GetPointer
address_in.restype = ctypes.c_void_p
address_in.argtypes = [ctypes.py_object, ctypes.c_char_p]


class DlpackArray:
    """Has the interface of the arrays of CuPy, PyTorch and JAX."""

    def __init__(self, address, shape, dtype, strides=None):
        dtype = np.dtype(dtype)
        dims = ctypes.c_int64 * len(shape)
        self.stream, self.freed = None, 0
        self._deleter = Deleter(lambda _: setattr(self, "freed", self.freed + 1))
        self._shape, self._strides = dims(*shape), dims(*strides) if strides else None
        kind = DataType({"i": 0, "f": 2}[dtype.kind], dtype.itemsize * 8, 1)
        tensor = Tensor(address, Device(2, 0), len(shape), kind, self._shape, self._strides, 0)
        self._tensor = ManagedTensor(tensor, None, self._deleter)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.stream = stream
        return make_capsule(ctypes.addressof(self._tensor), b"dltensor", None)


class Driver:
    """Calls the functions of the CUDA driver that copy an array to the first GPU and back."""

    def __init__(self):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name, *arguments):
        status = getattr(self._cuda, name)(*arguments)
        assert status == 0, f"{name}: {status}"

    def copy(self, array):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
        self._call("cuMemcpyHtoD_v2", address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        return address.value

    def fetch(self, array):
        """Copies an array with both protocols to the host."""
        described = array.__cuda_array_interface__
        capsule = array.__dlpack__(stream=1)
        tensor = ctypes.cast(address_in(capsule, b"dltensor"), ctypes.POINTER(ManagedTensor)).contents.tensor
        assert array.__dlpack_device__() == (2, 0)
        assert described["data"][0] == tensor.data
        assert described["shape"] == (tensor.shape[0],) == (len(array),)
        found = np.empty(tensor.shape[0], described["typestr"])
        assert tensor.dtype.bits == 8 * found.itemsize
        to, size = found.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(found.nbytes)
        self._call("cuMemcpyDtoH_v2", to, ctypes.c_uint64(tensor.data), size)
        return found


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (DlpackArray(64, (9, 3), np.float64, strides=(1, 9)), "contiguous"),
        (CudaArray(64, (9, 3), np.float64, strides=(8, 72)), "contiguous"),
        (DlpackArray(64, (9,), np.float64), "2D.*1 dimensions"),
        (CudaArray(64, (9, 0), np.float64), "no columns"),
        (DlpackArray(64, (9, 3), np.int64), "dtype.*float32"),
        (CudaArray(64, (9, 3), np.int32), "<i4.*float32"),
        (DlpackArray(64, (9, 3), np.float64), "GPU.*CPU.*backend='gpu'"),
        (CudaArray(64, (9, 3), np.float32), "GPU.*CPU.*backend='gpu'"),
    ],
)
def test_arrays_on_a_gpu_that_cannot_be_taken(array, words):
    with pytest.raises(ValueError, match=words):
        epsflow.sweep(array, 1, 2, backend="cpu")


@pytest.fixture
def array():
    return DlpackArray(64, (9, 3), np.float64)


def test_catalogues_are_made_where_the_points_are(array):
    labels, other = np.zeros(9, np.int32), np.zeros(8)
    variant = epsflow.sweep(np.zeros((9, 3)), 1, 2)[0]
    variant._origin = Origin(points=as_gpu_points(array), metric=EUCLIDEAN)

    def catalog(labels, X=array, **more):
        return lambda: epsflow.catalog(X, labels, engine=epsflow.Engine("cpu"), **more)

    check_refused(
        (catalog(labels), ValueError, "on a GPU, and the engine works on the CPU.*backend='gpu'"),
        (catalog(labels[1:]), ValueError, "9 points and 8 labels"),
        (catalog(labels, core=other == 0), ValueError, r"core.shape == \(8,\)"),
        (catalog(labels, columns={"v": other}), ValueError, r"'v' has the shape \(8,\)"),
        (catalog(labels, columns=["v"]), TypeError, "columns is a dict"),
        (catalog(labels, X=np.zeros((9, 3))), TypeError, "engine is for an X that is on a GPU"),
        (lambda: variant.catalog, ValueError, r"epsflow.catalog\(X, variant\)"),
    )


def test_what_takes_arrays_of_the_host_alone(array):
    masked = CudaArray(64, (9, 3), np.float64, mask=CudaArray(64, (9, 3), np.uint8))
    on_cpu, fitted = {"backend": "cpu"}, epsflow.DBSCAN().fit(np.zeros((4, 3)))
    points = as_gpu_points(CudaArray(64, (9, 3), np.float64))
    result, data = epsflow.sweep(np.zeros((9, 3)), 1, 2), epsflow.Dataset.__new__(epsflow.Dataset)
    result._origin, data._given = Origin(points=points), Input(points, EUCLIDEAN)  # as an engine on a GPU creates them
    check_refused(
        (lambda: pickle.dumps(data), TypeError, "copy them to the host"),
        (lambda: result.labelled(1, 2), ValueError, "X is on a GPU"),
        (lambda: fitted.predict(array), TypeError, "sweep.*DBSCAN.fit"),
        (lambda: epsflow.drop_missing(array), TypeError, "sweep.*DBSCAN.fit"),
        (lambda: epsflow.DBSCAN().fit(array), TypeError, "as DlpackArray.*CuPy, PyTorch, JAX and Numba.*sweep"),
        (lambda: epsflow.sweep(masked, 1, 2), TypeError, "masked"),
        (lambda: epsflow.sweep(array, 1, 2, metric="manhattan", **on_cpu), ValueError, "copy them to the host"),
        (lambda: epsflow.sweep(array, 1, 2, metric_params={"box": 1}, **on_cpu), ValueError, "copy them to the host"),
    )


def of_library(package, kind=DlpackArray, shape=(9, 3), dtype=np.float64, **more):
    """Returns an array on a GPU that seems to belong to a package. Its [i] returns (array, i)."""
    made = type("array", (kind,), {"__module__": package, "__getitem__": lambda self, i: (self, i)})
    return made(64, shape, dtype, **more)


@pytest.mark.parametrize(
    "package, kind",
    [("cupy", DlpackArray), ("torch", DlpackArray), ("jaxlib._jax", DlpackArray), ("numba.cuda.cudadrv", CudaArray)],
)
def test_the_estimator_takes_arrays_on_a_gpu_as_far_as_one_is_needed(package, kind):
    for parameters, of_array, words in (
        ({"backend": "cpu"}, {}, "GPU.*CPU.*backend='gpu'"),
        ({"backend": "cpu", "metric": "manhattan"}, {}, "metric='euclidean'.*copy them to the host"),
        ({"backend": "cpu", "metric_params": {"box": 1}}, {}, "metric='euclidean'.*copy them to the host"),
        ({"eps": -1}, {}, "eps == -1"),
        ({}, {"shape": (0, 3)}, r"0 sample\(s\)"),
        ({}, {"dtype": np.int64}, "dtype"),
    ):
        with pytest.raises(ValueError, match=words):
            epsflow.DBSCAN(**parameters).fit(of_library(package, kind, **of_array))


@pytest.mark.parametrize("package, output", [("cupy", "cupy"), ("torch._tensor", "torch"), ("jaxlib._jax", "jax")])
def test_what_the_estimator_finds_stays_on_the_gpu(monkeypatch, package, output):
    labels, core = np.array([0, 0, -1, 0], np.int32), np.array([True, False, False, True])
    if output == "torch":  # torch's nonzero() returns a matrix
        core = SimpleNamespace(nonzero=lambda: np.array([[0], [3]]))
    asked = {}

    def swept(data, eps, min_samples, **options):
        asked.update(options)
        return [SimpleNamespace(labels=labels, core=core)]

    monkeypatch.setattr(_estimator, "engine_for", lambda *_: None)
    monkeypatch.setattr(_estimator, "Dataset", lambda *_: None)
    monkeypatch.setattr(_estimator, "sweep_loaded", swept)
    X = of_library(package, shape=(4, 2))
    fitted = epsflow.DBSCAN(1).fit(X)
    assert asked["output"] == output and asked["core"] is True
    assert fitted.labels_ is labels and fitted.n_features_in_ == 2 and not hasattr(fitted, "feature_names_in_")
    np.testing.assert_array_equal(fitted.core_sample_indices_, [0, 3])
    assert fitted.components_[0] is X and fitted.components_[1] is fitted.core_sample_indices_
    # The array has get() as CuPy's arrays have.
    fitted._fitted.components = SimpleNamespace(get=lambda: np.array([[0.0, 0.0], [5.0, 5.0]]))
    np.testing.assert_array_equal(fitted.predict([[0.5, 0.0], [9.0, 9.0]]), [0, -1])


def test_outputs_that_cannot_be():
    X = np.zeros((4, 2))
    on_cpu = "output='torch' leaves labels on a GPU, and the engine works on the CPU"
    check_refused(
        (lambda: epsflow.sweep(X, 1, 2, backend="cpu", output="torch"), ValueError, "works on the CPU"),
        (lambda: epsflow.sweep(X, 1, 2, output="tensorflow"), ValueError, "'tensorflow' is none of"),
        (lambda: epsflow.sweep(X, 1, 2, output=None), TypeError, "output"),
        (lambda: epsflow.hierarchy(X, 2, backend="cpu", output="torch"), ValueError, on_cpu),
        (lambda: epsflow.hierarchy(X, 2, output="tensorflow", backend="cpu"), ValueError, "'tensorflow' is none of"),
    )


def test_hierarchies_that_a_gpu_does_not_label(monkeypatch):
    monkeypatch.setattr(epsflow.Engine, "backend", "gpu")  # this engine reports it, and works on the CPU
    X = np.random.default_rng(3).normal(size=(60, 2))
    for parameters, message in (
        ({"metric": "cosine"}, "with metric='cosine' they are made on the host: leave output out"),
        ({"sample_weight": 1.0}, "with sample_weight they are made on the host"),
        ({"min_samples": 61}, "min_samples is 61, and X has 60 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            epsflow.hierarchy(X, **parameters, backend="cpu", output="torch")
    tree, expected = epsflow.hierarchy(X, 5, backend="cpu", output="torch"), epsflow.hierarchy(X, 5, backend="cpu")
    assert (len(tree), tree.min_samples) == (60, 5)
    with pytest.raises(ValueError, match="min_cluster_size is 61"):
        tree.condense(61)
    with pytest.raises(ValueError, match="min_samples=5, equal points or the memory of the GPU: leave output out"):
        tree.condense(10).select()
    assert "_tree" not in vars(tree)  # nothing needed the tree on the host
    np.testing.assert_array_equal(tree.core_distances, expected.core_distances)
    np.testing.assert_array_equal(tree.condense(10).leaves_at, expected.condense(10).leaves_at)
    again = pickle.loads(pickle.dumps(tree.condense(10)))  # it is on the host
    np.testing.assert_array_equal(again.select().labels, expected.condense(10).select().labels)


@pytest.fixture(scope="module")
def driver():
    return Driver()


@needs_gpu
@pytest.mark.parametrize("kind", [CudaArray, DlpackArray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 3, 8, 70])
def test_labels_of_points_on_a_gpu(driver, kind, dtype, d):
    random = np.random.default_rng(d)
    clumps = [random.normal(size=(2000, d)) * 0.3, random.normal(size=(2000, d)) * 0.2 + 3]
    X = np.concatenate([*clumps, random.uniform(-2, 5, (500, d))]).astype(dtype)
    eps = [0.25 * d**0.5, 0.125 * d**0.5]
    expected = epsflow.sweep(X, eps, [5, 20], core=True, backend="cpu")
    array = kind(driver.copy(X), X.shape, dtype)
    here = epsflow.sweep(array, eps, [5, 20], core=True)
    there = epsflow.sweep(array, eps, [5, 20], core=True, output="dlpack")
    from_host = epsflow.sweep(X, eps, [5, 20], backend="gpu", output="dlpack")
    for want, one, two, three in zip(expected, here, there, from_host):
        check_attributes(one, want, "labels", "core_sample_indices")
        check_attributes(two, want, "labels", "core", fetched=driver.fetch)
        check_attributes(three, want, "labels", fetched=driver.fetch)
        assert (two.n_clusters, two.n_noise) == (want.n_clusters, want.n_noise)
    if kind is DlpackArray:
        assert array.stream == 1
        del here, there, one, two
        assert array.freed >= 2


@needs_gpu
@pytest.mark.parametrize("kind", [CudaArray, DlpackArray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_catalogues_of_points_on_a_gpu(driver, kind, dtype):
    random = np.random.default_rng(5)
    clumps = [random.normal(c, 0.2, (400, 3)) for c in (1, 5, 10)]
    X = np.concatenate([*clumps, random.uniform(0, 10, (100, 3))]).astype(dtype) % 10
    mass, v = random.uniform(0, 2, len(X)), random.normal(size=len(X))

    def copied(values):
        return kind(driver.copy(values), values.shape, values.dtype)

    def require_equal(found, expected):
        assert list(found) == list(expected)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-11)

    array, on_host = copied(X), epsflow.sweep(X, 0.3, 5, core=True, backend="cpu")[0]
    require_equal(epsflow.catalog(array, on_host), epsflow.catalog(X, on_host))
    there = epsflow.sweep(array, 0.3, 5, core=True, output="dlpack")[0]
    require_equal(epsflow.catalog(array, there), epsflow.catalog(X, on_host))
    params = {"box": 10}
    in_box = epsflow.sweep(X, 0.3, 5, metric_params=params, backend="cpu")[0]
    expected = epsflow.catalog(X, in_box, weights=mass, columns={"v": v}, metric_params=params)
    assert (expected["x_upper"] > 10).any() or (expected["x_lower"] < 0).any()  # a cluster crosses the end of the box
    require_equal(epsflow.catalog(array, in_box, weights=mass, columns={"v": v}, metric_params=params), expected)
    labels = copied(np.ascontiguousarray(in_box.labels))
    found = epsflow.catalog(array, labels, weights=copied(mass), columns={"v": copied(v)}, metric_params=params)
    require_equal(found, expected)


@needs_gpu
@pytest.mark.parametrize("kind", [CudaArray, None])
def test_windows_take_points_on_a_gpu_and_leave_labels_there(driver, kind):
    random = np.random.default_rng(7)
    on_gpu = epsflow.Window(0.2, 5, max_points=1000, backend="gpu", output="dlpack")
    on_host = epsflow.Window(0.2, 5, max_points=1000, backend="cpu")
    before = None
    for _ in range(5):
        X = random.normal(size=(400, 2))
        on_gpu.step(X if kind is None else kind(driver.copy(X), X.shape, X.dtype))
        on_host.step(X)
        check_attributes(on_gpu, on_host, "labels", "core", fetched=driver.fetch)
        assert on_gpu.events == on_host.events
        if before is not None:  # labels of an earlier step stay as they were
            np.testing.assert_array_equal(driver.fetch(before[0]), before[1])
        before = on_gpu.labels, on_host.labels
    with pytest.raises(ValueError, match="output='dlpack'"):
        on_gpu.cluster_ids  # noqa: B018


@needs_gpu
@pytest.mark.parametrize("kind", [CudaArray, DlpackArray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 9])
def test_hierarchies_leave_labels_on_a_gpu(driver, kind, dtype, d):
    random = np.random.default_rng(d)
    clumps = [random.normal(c, 0.3, (400, d)) for c in (0, 2, 5)]
    X = np.concatenate([*clumps, random.uniform(-2, 7, (300, d))]).astype(dtype)
    on_host = epsflow.hierarchy(X, [4, 12], backend="cpu")
    for points in (kind(driver.copy(X), X.shape, dtype), X):
        for tree, expected in zip(epsflow.hierarchy(points, [4, 12], output="dlpack"), on_host):
            for size, method in ((10, "eom"), (10, "leaf"), (40, "eom")):
                found, wanted = tree.condense(size).select(method), expected.condense(size).select(method)
                check_attributes(found, wanted, "labels", "probabilities", fetched=driver.fetch)
                check_attributes(found, wanted, "persistence", "nodes")
            assert "_tree" not in vars(tree)  # no tree was copied to the host
            np.testing.assert_array_equal(tree.core_distances, expected.core_distances)
    with pytest.raises(ValueError, match="min_samples=300"):
        epsflow.hierarchy(X, 300, backend="gpu", output="dlpack").condense(10).select()


@needs_gpu
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 9])
def test_arrays_of_other_libraries(library, dtype, d):
    random = np.random.default_rng(d)
    X = np.concatenate([random.normal(size=(2000, d)) * 0.3, random.uniform(-2, 5, (1000, d))]).astype(dtype)
    eps = [0.25 * d**0.5, 0.125 * d**0.5]
    expected = epsflow.sweep(X, eps, [5, 20], core=True, backend="cpu")
    array = on_gpu(library, X)
    here = epsflow.sweep(array, eps, [5, 20])
    there = epsflow.sweep(array, eps, [5, 20], core=True, output=library)
    for want, one, two in zip(expected, here, there):
        np.testing.assert_array_equal(one.labels, want.labels)
        assert type(two.labels) is type(two.core) is type(array)
        found = fetched(two.labels)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, want.labels)
        np.testing.assert_array_equal(fetched(two.core), want.core)

    def check(found, expected, *names):
        for name in names:
            assert type(getattr(found, name)) is type(array)
            np.testing.assert_array_equal(fetched(getattr(found, name)), getattr(expected, name))

    selected = epsflow.hierarchy(array, 5, output=library).condense(20).select()
    check(selected, epsflow.hierarchy(X, 5, backend="cpu").condense(20).select(), "labels", "probabilities")
    fitted = epsflow.DBSCAN(eps[0], min_samples=5).fit(array)
    on_host = epsflow.DBSCAN(eps[0], min_samples=5, backend="cpu").fit(X)
    check(fitted, on_host, "labels_", "core_sample_indices_", "components_")
    np.testing.assert_array_equal(fitted.predict(X[::7]), on_host.predict(X[::7]))
    np.testing.assert_array_equal(fetched(array), X)
    labels = there[0].labels
    del here, there, array, two  # the labels keep their memory
    epsflow.sweep(X, eps, [5, 20], backend="gpu")
    np.testing.assert_array_equal(fetched(labels), expected[0].labels)


@needs_gpu
def test_numba_arrays():
    cuda = pytest.importorskip("numba.cuda")
    X = np.random.default_rng(1).normal(size=(3000, 3))
    expected = epsflow.sweep(X, 0.2, 5, backend="cpu")[0].labels
    np.testing.assert_array_equal(epsflow.sweep(cuda.to_device(X), 0.2, 5)[0].labels, expected)
    fitted, on_host = epsflow.DBSCAN(0.2).fit(cuda.to_device(X)), epsflow.DBSCAN(0.2, backend="cpu").fit(X)
    check_attributes(fitted, on_host, "labels_", "core_sample_indices_", "components_")


@needs_gpu
def test_points_are_waited_for_on_the_stream_that_makes_them():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(2).normal(size=(20000, 2))
    expected = epsflow.sweep(X, 0.1, 5, backend="cpu")[0].labels
    made = torch.from_numpy(X).cuda()
    engine = epsflow.Engine(backend="gpu")
    for _ in range(3):
        late = torch.zeros_like(made)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(100_000_000)  # cycles
            late.copy_(made)
            data = engine.load(late)
        np.testing.assert_array_equal(data.sweep(0.1, 5)[0].labels, expected)


@needs_gpu
def test_idle_memory_is_given_back_to_others():
    torch = pytest.importorskip("torch")
    points = torch.rand((20_000_000, 2), device="cuda")
    torch.cuda.synchronize()
    epsflow.sweep(points, 0.0002, 5)  # the driver keeps local memory of kernels, 100 MB here, from their first run on
    time.sleep(3)
    before, _ = torch.cuda.mem_get_info()
    begin = time.monotonic()
    epsflow.sweep(points, 0.0002, 5, output="torch")
    soon, _ = torch.cuda.mem_get_info()
    assert soon < before - 200e6 or time.monotonic() - begin > 0.9  # idle memory is kept for the next run for a while
    deadline = time.monotonic() + 20
    while torch.cuda.mem_get_info()[0] < before - 50e6 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert torch.cuda.mem_get_info()[0] >= before - 50e6


@needs_gpu
def test_what_stays_on_a_gpu(driver):
    X = np.random.default_rng(1).normal(size=(300, 3))
    array = DlpackArray(driver.copy(X), X.shape, X.dtype)
    result = epsflow.sweep(array, 1, 4, output="dlpack")
    check_refused(
        (lambda: pickle.dumps(result), ValueError, "pickle"),
        (lambda: result.save("never"), ValueError, "save"),
        (lambda: result.labelled(1, 4), ValueError, "put X beside"),
        (lambda: result[0].core, ValueError, "core"), (lambda: result[0].core_sample_indices, ValueError, "core"),
    )
    table, expected = (epsflow.neighbors(points, 1.0) for points in (array, X))
    pairs = [t[1] if isinstance(t, tuple) else t.indices for t in (table, expected)]
    np.testing.assert_array_equal(*pairs)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7, column 1"):
        epsflow.sweep(DlpackArray(driver.copy(X), X.shape, X.dtype), 1, 4)
