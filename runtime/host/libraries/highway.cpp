#include "runtime/host/libraries/highway.h"

#include <type_traits>

#include "runtime/base/library.h"

namespace heddle::runtime::highway {

namespace {

// HEDDLE_VQSORT(entry, name): the members of hwy::Sorter that the entries of Api call.
#define HEDDLE_VQSORT_FUNCTIONS                                     \
  HEDDLE_VQSORT(create, "_ZN3hwy6SorterC1Ev")                       \
  HEDDLE_VQSORT(destroy, "_ZN3hwy6Sorter6DeleteEv")                 \
  HEDDLE_VQSORT(sort16, "_ZNK3hwy6SorterclEPtmNS_13SortAscendingE") \
  HEDDLE_VQSORT(sort32, "_ZNK3hwy6SorterclEPjmNS_13SortAscendingE") \
  HEDDLE_VQSORT(sort64, "_ZNK3hwy6SorterclEPmmNS_13SortAscendingE") \
  HEDDLE_VQSORT(sort128, "_ZNK3hwy6SorterclEPNS_9uint128_tEmNS_13SortAscendingE")

#ifndef HEDDLE_LINK_OPTIONAL

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_VQSORT(entry, name) library.bind(api.entry, name, missing);
  HEDDLE_VQSORT_FUNCTIONS
#undef HEDDLE_VQSORT
  return {};
}

Library<Api>& library() {
  static auto& library =
      *new Library<Api>({.request = {.title = "Highway", .names = {"libhwy_contrib.so.1"}},
                         .mend = "Install Highway 1 (Debian's libhwy1, Ubuntu's libhwy1t64).",
                         .without = "runs of keys are sorted without vectors",
                         .bind = bind});
  return library;
}

#else

#define HEDDLE_VQSORT(entry, name) \
  extern "C" std::remove_pointer_t<decltype(Api::entry)> linked_##entry __asm__(name);
HEDDLE_VQSORT_FUNCTIONS
#undef HEDDLE_VQSORT

#endif

}  // namespace

#ifndef HEDDLE_LINK_OPTIONAL

const std::string& unavailable_reason() { return library().unavailable_reason(); }
const Api& api() { return library().api(); }

#else

const std::string& unavailable_reason() {
  static const std::string none;
  return none;
}

const Api& api() {
#define HEDDLE_VQSORT(entry, name) .entry = linked_##entry,
  static constexpr Api linked = {HEDDLE_VQSORT_FUNCTIONS};
#undef HEDDLE_VQSORT
  return linked;
}

#endif

}  // namespace heddle::runtime::highway
