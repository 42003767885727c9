#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/precision.h"
#include "heddle/trust.h"

namespace heddle {

/// Whether recorded work is evaluated on its own, after 64 pending ops or when memory asks for it
/// (default), or only when a value is asked for. For all threads. Returns what was set before.
bool auto_eval(bool enabled);

/// How exactly the matrix products of float32 and complex64 are multiplied that are recorded from
/// here on: of matmul, dot, einsum and whatever is composed of them, where nothing closer says
/// otherwise, which are matmul's options, JitOptions and MatmulPrecision. For all threads; IEEE's
/// at the start. Returns what was set before.
Precision set_matmul_precision(Precision precision);
/// What such a product gets that this thread records now.
Precision matmul_precision();

/// The same for what this thread records while the object lives; nullopt changes nothing. They
/// nest, and are destroyed in the reverse order.
class MatmulPrecision {
 public:
  explicit MatmulPrecision(std::optional<Precision> precision);
  ~MatmulPrecision();
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;

 private:
  std::optional<Precision> before_;
};

/// Whether what no model decides is timed where it is first needed, with the call's own arrays:
/// which algorithm of cuBLASLt multiplies matrices of this shape on this GPU. Up to eight are
/// tried, five runs each or, where these take less than half a millisecond, more; the choice is
/// kept in the cache on disk. Results may differ from those without it by rounding, and are the
/// same bits from then on. Complex products, and the CPU's, are not timed. For all threads. Returns
/// what it was: off, unless HEDDLE_AUTOTUNE is 1.
bool set_autotune(bool enabled);

/// Where arrays are made and programs run: "cpu" or "cuda:N". The default is HEDDLE_DEVICE, else
/// the first GPU, else the CPU. DeviceError when there is no such device.
void set_device(const std::string& name);
std::string device();
/// Waits for everything that the calling thread has launched.
void synchronize();

/// From now on every program that the process makes is appended to the file, as text, once: what
/// `heddle warm FILE` compiles ahead. Several processes may share a file. "" ends it. HEDDLE_RECORD
/// does the same from the start. FileError where the file cannot be written or holds something
/// else.
void record(const std::string& path);

/// From now on programs are also looked for in a file that `heddle cache export` wrote, after the
/// cache's directories.
///
/// The file holds native code, which runs with this process's rights: load what you would run.
/// Throws TrustError, which names owner and mode, where users besides this one and root may have
/// written it or may write to its folder, unless `trust` is Trust::anyone; where HEDDLE_CACHE_KEY
/// is set, and then only, where that key has not signed it. Throws FileError where it cannot be
/// read or is no such file.
void load_bundle(const std::string& path, Trust trust = Trust::own);

/// What the process has done so far. HEDDLE_STATISTICS=1 writes most of it to standard error when
/// it ends.
struct Statistics {
  std::uint64_t traces = 0;       ///< functions traced by jit
  std::uint64_t programs = 0;     ///< distinct programs asked for by lazy evaluation and jit
  std::uint64_t compiled = 0;     ///< those that were made, from the disk cache or by compiling
  std::uint64_t evaluations = 0;  ///< runs of a program
  std::uint64_t auto_evaluations = 0;  ///< those that the library decided on
  std::uint64_t kernels_launched = 0;
  std::uint64_t cache_hits = 0, cache_misses = 0;  ///< in the cache on disk and in bundles
  std::uint64_t cache_ignored = 0;  ///< entries not readable, not to be trusted, or not signed
  std::uint64_t cache_damaged = 0, cache_evicted = 0;           ///< entries deleted for it
  std::uint64_t cache_bytes_read = 0, cache_bytes_written = 0;  ///< of entries
  std::uint64_t compiler_runs = 0, modules_loaded = 0;
  double compile_milliseconds = 0;  ///< of all threads together
  double load_milliseconds = 0;     ///< of machine code, into the process or onto the device
  std::int64_t pending_ops = 0;     ///< recorded and not evaluated, now
  std::int64_t pinned_bytes = 0;    ///< of buffers that only this thread's pending ops keep
};
/// Throws TrustError where HEDDLE_CACHE_KEY is set and of no use.
Statistics statistics();

}  // namespace heddle
