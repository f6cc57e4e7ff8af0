from spack.package import *


class Epsflow(CMakePackage, CudaPackage):
    """DBSCAN over one data set for a whole grid of parameters, exact on CPUs and GPUs."""

    homepage = "https://github.com/epsflow/epsflow"
    url = "https://github.com/epsflow/epsflow/releases/download/v@VERSION@/epsflow-@VERSION@.tar.gz"
    git = "https://github.com/epsflow/epsflow.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("@VERSION@", sha256="@SHA256@")

    variant("program", default=True, description="Build the program")
    variant("io", default=True, description="Build epsflow::io, which reads and writes files")
    variant("fits", default=True, when="+io", description="Read and write FITS")
    variant("hdf5", default=True, when="+io", description="Read and write HDF5")
    variant("npz", default=True, when="+io", description="Read and write NPZ")
    variant("parquet", default=False, when="+io", description="Read and write Parquet and Arrow")
    variant("mpi", default=False, description="Sweep over the processes of MPI")

    conflicts("+program", when="~io", msg="the program reads files: +program needs +io")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=90")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="test")
    depends_on("intel-oneapi-tbb@2021.8:")
    depends_on("highway@1.0.3:")
    depends_on("cuda@12:", when="+cuda")
    depends_on("mpi", when="+mpi")
    with when("+io"):
        depends_on("nlohmann-json")
        depends_on("zlib-api")
        depends_on("fmt")
    depends_on("boost+program_options", when="+program")
    depends_on("cfitsio", when="+fits")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("libzip", when="+npz")
    depends_on("arrow@21:+parquet", when="+parquet")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("EPSFLOW_BUILD_TESTS", False),
            self.define("EPSFLOW_BUILD_EXAMPLES", False),
            self.define_from_variant("EPSFLOW_BUILD_IO", "io"),
            self.define_from_variant("EPSFLOW_BUILD_CLI", "program"),
            self.define_from_variant("EPSFLOW_WITH_MPI", "mpi"),
            self.define_from_variant("EPSFLOW_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+io"):
            args += [
                self.define_from_variant(f"EPSFLOW_WITH_{name.upper()}", name)
                for name in ("fits", "hdf5", "npz", "parquet")
            ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("EPSFLOW_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    @run_after("install")
    def keep_test_sources(self):
        cache_extra_test_sources(
            self, [join_path("tests", "golden"), join_path("tests", "cli"), join_path("tests", "consumer")]
        )

    def test_program(self):
        """the installed program gives the labels that are known"""
        if self.spec.satisfies("~program"):
            raise SkipTest("there is no program without +program")
        with working_dir(self.test_suite.current_test_cache_dir.tests):
            python = which("python3")
            python("cli/small_golden_test.py", "golden", env={"EPSFLOW_BINARY": self.prefix.bin.epsflow})

    def test_library(self):
        """a project that uses the installed library builds and runs"""
        source = self.test_suite.current_test_cache_dir.tests.consumer
        with working_dir("consumer", create=True):
            cmake = which(self.spec["cmake"].prefix.bin.cmake)
            cmake(
                source, self.define_from_variant("EPSFLOW_CONSUMER_IO", "io"),
                self.define("CMAKE_PREFIX_PATH", self.prefix),
            )
            cmake("--build", ".")
            which(self.spec["cmake"].prefix.bin.ctest)("--output-on-failure")
