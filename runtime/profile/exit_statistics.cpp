#include "runtime/profile/exit_statistics.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>

#include "runtime/base/statistics.h"
#include "runtime/cache/store.h"

namespace heddle::runtime {

namespace {

void tell() {
  const cache::Statistics cache = cache::Store::global().statistics();
  const Statistics& counts = statistics();
  fmt::print(
      stderr,
      "heddle: cache: {} hits, {} misses, {} ignored, {} damaged, {} evicted, {} bytes read, "
      "{} bytes written\n"
      "heddle: compiled: {} runs, {:.1f} ms; loaded: {} modules, {:.1f} ms\n"
      "heddle: ran: {} programs, {} kernels launched\n",
      cache.hits, cache.misses, cache.ignored, cache.bad_entries, cache.evicted, cache.bytes_read,
      cache.bytes_written, cache.compiles, cache.compile_milliseconds, counts.modules_loaded.load(),
      counts.load_milliseconds(), counts.program_launches.load(), counts.kernel_launches.load());
}

}  // namespace

void print_statistics_at_exit() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Create the store now, so that it is not first created at exit.
    static_cast<void>(cache::Store::global());
    std::atexit(tell);
  });
}

}  // namespace heddle::runtime
