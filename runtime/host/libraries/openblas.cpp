#include "runtime/host/libraries/openblas.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/bound_library.h"
#include "runtime/base/log.h"
#include "runtime/base/thread_pool.h"
#include "runtime/host/cpu.h"

namespace heddle::runtime::openblas {

namespace {

const char* core_variable() { return ir::info(ir::Variable::openblas_core).name; }
constexpr std::string_view cores_without_avx[] = {"Prescott", "Core2", "Nehalem", "Barcelona"};

/// The OpenBLAS core whose f32 and f64 kernels run well on all later Intel processors; empty if
/// OpenBLAS should detect the core itself.
std::string_view core_of(const ir::Target& host) {
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel") == 0) return {};
  if (host.architecture == "x86-64-v4") return "SkylakeX";
  if (host.architecture == "x86-64-v3") return "Haswell";
#endif
  return {};
}

/// Sets the core for OpenBLAS in the environment, unless the user has set it. OpenBLAS does not
/// recognise processors newer than itself and uses slow kernels without AVX for them. The variable
/// is set only while the library is opened, because other threads may read the environment.
class CoreHint {
 public:
  explicit CoreHint(const ir::Target& host) {
    const std::string core(core_of(host));
    if (core.empty() || ir::is_set(ir::Variable::openblas_core)) return;
    set_ = ::setenv(core_variable(), core.c_str(), 0) == 0;
  }
  ~CoreHint() {
    if (set_) ::unsetenv(core_variable());
  }
  CoreHint(const CoreHint&) = delete;
  CoreHint& operator=(const CoreHint&) = delete;

 private:
  bool set_ = false;
};

void warn_of_old_core(const ir::Target& host, const std::string& config) {
  const bool has_avx2 = host.architecture == "x86-64-v3" || host.architecture == "x86-64-v4";
  const bool takes_it_for_old = std::ranges::any_of(
      cores_without_avx,
      [&](const std::string_view core) { return config.find(core) != std::string::npos; });
  if (!has_avx2 || !takes_it_for_old) return;
  log().warn(
      "{} treats this processor as one without AVX, so matrix products are slow. Set {} to "
      "Haswell, Zen or SkylakeX, or HEDDLE_OPENBLAS to a newer OpenBLAS.",
      config, core_variable());
}

/// The number of calls inside OpenBLAS, and whether the process is exiting. When OpenBLAS is
/// unloaded at exit, it unmaps its working memory while other threads may continue, so no call may
/// be inside by then.
constinit std::atomic<int> calls_inside{0};
constinit thread_local int own_calls_inside = 0;  ///< calls of this thread
constinit std::atomic<bool> ending{false};

/// Waits for the calls inside. Static destructors run before the system unloads opened libraries.
/// Calls of this thread are not waited for: exit() may have been called by a signal handler that
/// interrupted one, which will never end.
struct Ending {
  ~Ending() {
    ending = true;
    while (calls_inside != own_calls_inside)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
};
const Ending at_exit;

/// Binds LAPACK functions; some builds contain only BLAS.
void bind_lapack(Api& out, const DynamicLibrary& library) {
  std::string missing;
  lapack::bind(out.lapack, library, missing);
  if (!missing.empty()) {
    out.lapack_reason = fmt::format(
        "this OpenBLAS was built without LAPACK ({} missing): set HEDDLE_OPENBLAS to another",
        missing);
  }
}

std::string load(Api& out) {
  const ir::Target host = detect_host_target();
  std::optional<CoreHint> hint(std::in_place, host);
  std::string reason = bind_library(
      {.title = "OpenBLAS",
       .names = {"libopenblas.so.0", "libopenblas.so"},
       .packages = {},
       .variable = ir::Variable::openblas},
      "Install OpenBLAS (apt install libopenblas0-pthread), or set HEDDLE_OPENBLAS to its file.",
      [&](const DynamicLibrary& library, std::string& missing) {
        hint.reset();
        library.bind(out.f32.gemm, "cblas_sgemm", missing);
        library.bind(out.f32.gemv, "cblas_sgemv", missing);
        library.bind(out.f32.syrk, "cblas_ssyrk", missing);
        library.bind(out.f64.gemm, "cblas_dgemm", missing);
        library.bind(out.f64.gemv, "cblas_dgemv", missing);
        library.bind(out.f64.syrk, "cblas_dsyrk", missing);
        library.bind(out.c64.gemm, "cblas_cgemm", missing);
        library.bind(out.c64.gemv, "cblas_cgemv", missing);
        library.bind(out.c64.syrk, "cblas_csyrk", missing);
        library.bind(out.c64.herk, "cblas_cherk", missing);
        library.bind(out.c128.gemm, "cblas_zgemm", missing);
        library.bind(out.c128.gemv, "cblas_zgemv", missing);
        library.bind(out.c128.syrk, "cblas_zsyrk", missing);
        library.bind(out.c128.herk, "cblas_zherk", missing);
        bind_lapack(out, library);
        library.bind(out.set_threads, "openblas_set_num_threads", missing);
        const auto config =
            reinterpret_cast<const char* (*)()>(library.symbol("openblas_get_config"));
        std::string version = config != nullptr ? config() : "";
        warn_of_old_core(host, version);
        return version;
      });
  // OpenBLAS stops its threads before a fork, and must not do so while another thread multiplies.
  ir::fork_after_sections();
  if (reason.empty()) {
    out.set_threads(thread_count());
    ir::in_forked_child([] { calls_inside = own_calls_inside; });
  }
  return reason;
}

}  // namespace

Inside::Inside() {
  calls_inside.fetch_add(1);
  entered = !ending.load();
  if (entered)
    ++own_calls_inside;
  else
    calls_inside.fetch_sub(1);
}

Inside::~Inside() {
  if (!entered) return;
  --own_calls_inside;
  calls_inside.fetch_sub(1);
}

namespace {

/// Guards the number of instances of WithoutThreads.
ir::Mutex& threads_mutex() {
  static ir::Mutex& mutex = *new ir::Mutex;
  return mutex;
}
int without_threads = 0;

}  // namespace

WithoutThreads::WithoutThreads() {
  const std::lock_guard lock(threads_mutex());
  if (without_threads++ == 0) loaded().set_threads(1);
}

WithoutThreads::~WithoutThreads() {
  const std::lock_guard lock(threads_mutex());
  if (--without_threads == 0) loaded().set_threads(thread_count());
}

const Api& loaded() {
  static constinit ir::LazyStatic<Api> instance;
  return instance.get([] {
    Api made;
    made.reason = load(made);
    return made;
  });
}

const std::string& unavailable_reason() {
  static const std::string& none = *new std::string;
  const Inside inside;
  return inside.entered ? loaded().reason : none;
}

}  // namespace heddle::runtime::openblas
