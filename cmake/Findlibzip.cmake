# Sets libzip_FOUND, libzip_INCLUDE_DIR and libzip_LIBRARY. libzip's own package file, as Debian has
# it, fails where its command-line tools are not installed.
find_path(libzip_INCLUDE_DIR zip.h)
find_library(libzip_LIBRARY zip)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libzip REQUIRED_VARS libzip_LIBRARY libzip_INCLUDE_DIR)
mark_as_advanced(libzip_INCLUDE_DIR libzip_LIBRARY)
