# Defines xxhash::xxhash, used header-only so that no library is linked. Machines without
# libxxhash-dev often have pyarrow, which ships the header.
find_path(xxhash_INCLUDE_DIR xxhash.h)
if(NOT xxhash_INCLUDE_DIR)
  execute_process(COMMAND python3 -c "import pyarrow; print(pyarrow.get_include())"
    OUTPUT_VARIABLE pyarrow_include OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_path(xxhash_INCLUDE_DIR xxhash.h PATHS ${pyarrow_include}/arrow/vendored/xxhash
    NO_DEFAULT_PATH)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxhash REQUIRED_VARS xxhash_INCLUDE_DIR)
if(xxhash_FOUND AND NOT TARGET xxhash::xxhash)
  add_library(xxhash::xxhash INTERFACE IMPORTED)
  set_target_properties(xxhash::xxhash PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${xxhash_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS XXH_INLINE_ALL)
endif()
mark_as_advanced(xxhash_INCLUDE_DIR)
