vcpkg_check_linkage(ONLY_STATIC_LIBRARY)

vcpkg_download_distfile(
    ARCHIVE
    URLS "https://github.com/epsflow/epsflow/releases/download/v${VERSION}/epsflow-${VERSION}.tar.gz"
    FILENAME "epsflow-${VERSION}.tar.gz"
    SHA512 @SHA512@
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

vcpkg_check_features(OUT_FEATURE_OPTIONS options
    FEATURES
        io    EPSFLOW_BUILD_IO
        fits  EPSFLOW_WITH_FITS
        hdf5  EPSFLOW_WITH_HDF5
        npz   EPSFLOW_WITH_NPZ
        tools EPSFLOW_BUILD_CLI
)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${options}
        -DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}
        -DEPSFLOW_CUDA=OFF
        -DEPSFLOW_WITH_PARQUET=OFF
        -DEPSFLOW_BUILD_TESTS=OFF
        -DEPSFLOW_BUILD_EXAMPLES=OFF
    MAYBE_UNUSED_VARIABLES
        EPSFLOW_WITH_FITS
        EPSFLOW_WITH_HDF5
        EPSFLOW_WITH_NPZ
        EPSFLOW_WITH_PARQUET
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/epsflow)
set(programs)
if("tools" IN_LIST FEATURES)
    list(APPEND programs epsflow)
endif()
if("io" IN_LIST FEATURES)
    list(APPEND programs epsflow-reader)
endif()
if(programs)
    vcpkg_copy_tools(TOOL_NAMES ${programs} AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
