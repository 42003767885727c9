#ifdef HEDDLE_WITH_LIBZIP

#include "frontend/io/libzip.h"

#include "runtime/base/library.h"

namespace heddle::frontend {

#ifndef HEDDLE_LINK_OPTIONAL

namespace {

std::string bind(Libzip& api, const runtime::DynamicLibrary& library, std::string& missing) {
#define HEDDLE_LIBZIP(name) library.bind(api.name, #name, missing);
  HEDDLE_LIBZIP_FUNCTIONS
#undef HEDDLE_LIBZIP
  using Version = const char*();
  const auto version = reinterpret_cast<Version*>(library.symbol("zip_libzip_version"));
  return version == nullptr ? std::string() : version();
}

runtime::Library<Libzip>& library() {
  static auto& library = *new runtime::Library<Libzip>(
      {.request = {.title = "libzip", .names = {"libzip.so.5", "libzip.so.4"}},
       .mend = "Install libzip (Debian's libzip4 or libzip5, Ubuntu's libzip4t64).",
       .without = ".npz files cannot be read or written",
       .bind = bind});
  return library;
}

}  // namespace

const std::string& libzip_unavailable_reason() { return library().unavailable_reason(); }
const Libzip& libzip() { return library().api(); }

#else

const std::string& libzip_unavailable_reason() {
  static const std::string none;
  return none;
}

const Libzip& libzip() {
#define HEDDLE_LIBZIP(name) .name = &::name,
  static constexpr Libzip linked = {HEDDLE_LIBZIP_FUNCTIONS};
#undef HEDDLE_LIBZIP
  return linked;
}

#endif

}  // namespace heddle::frontend

#endif
