#pragma once

#ifdef HEDDLE_WITH_LIBZIP

#include <string>

#include <zip.h>

namespace heddle::frontend {

#define HEDDLE_LIBZIP_FUNCTIONS           \
  HEDDLE_LIBZIP(zip_close)                \
  HEDDLE_LIBZIP(zip_discard)              \
  HEDDLE_LIBZIP(zip_error_fini)           \
  HEDDLE_LIBZIP(zip_error_init_with_code) \
  HEDDLE_LIBZIP(zip_error_strerror)       \
  HEDDLE_LIBZIP(zip_fclose)               \
  HEDDLE_LIBZIP(zip_file_add)             \
  HEDDLE_LIBZIP(zip_file_set_dostime)     \
  HEDDLE_LIBZIP(zip_file_strerror)        \
  HEDDLE_LIBZIP(zip_fopen_index)          \
  HEDDLE_LIBZIP(zip_fread)                \
  HEDDLE_LIBZIP(zip_get_name)             \
  HEDDLE_LIBZIP(zip_get_num_entries)      \
  HEDDLE_LIBZIP(zip_open)                 \
  HEDDLE_LIBZIP(zip_set_file_compression) \
  HEDDLE_LIBZIP(zip_source_buffer)        \
  HEDDLE_LIBZIP(zip_source_free)          \
  HEDDLE_LIBZIP(zip_strerror)

/// libzip's functions.
struct Libzip {
#define HEDDLE_LIBZIP(name) decltype(&::name) name = nullptr;
  HEDDLE_LIBZIP_FUNCTIONS
#undef HEDDLE_LIBZIP
};

/// Why libzip cannot be used; empty if it can. It is loaded at first use, because libcrypto, which
/// it needs, takes most of a millisecond to relocate.
const std::string& libzip_unavailable_reason();
/// DeviceError if libzip cannot be used.
const Libzip& libzip();

}  // namespace heddle::frontend

#endif
