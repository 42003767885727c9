#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/precision.h"
#include "heddle/trust.h"

namespace heddle {

/// Automatic evaluation. If enabled (default), recorded work is also evaluated after 64 pending ops
/// or under memory pressure, and not only when a value is read. For all threads. Returns the
/// previous setting.
bool auto_eval(bool enabled);

/// Sets the precision of float32 and complex64 matrix products that are recorded from now on:
/// matmul, dot, einsum and functions built on them. matmul's options, JitOptions and
/// MatmulPrecision override it. For all threads; IEEE at the start. Returns the previous setting.
Precision set_matmul_precision(Precision precision);
/// The precision that applies to a product recorded now by this thread.
Precision matmul_precision();

/// Sets the precision of products that this thread records while the object exists; nullopt changes
/// nothing. Objects nest, and must be destroyed in reverse order.
class MatmulPrecision {
 public:
  explicit MatmulPrecision(std::optional<Precision> precision);
  ~MatmulPrecision();
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;

 private:
  std::optional<Precision> before_;
};

/// Autotuning: measures, at first use and with the call's own arrays, choices that no cost model
/// decides. Today this is the cuBLASLt algorithm for a matrix product of a given shape on this GPU.
/// Up to eight algorithms are tried, with five runs each, or more if these take less than half a
/// millisecond. The choice is kept in the disk cache. Results may differ by rounding from those
/// without autotuning, and are bitwise the same from then on. Complex products and CPU products are
/// not timed. For all threads. Returns the previous setting, which is off unless HEDDLE_AUTOTUNE is
/// 1.
bool set_autotune(bool enabled);

/// The device on which arrays are created and programs run: "cpu" or "cuda:N". The default is
/// HEDDLE_DEVICE, else the first GPU, else the CPU. DeviceError if there is no such device.
void set_device(const std::string& name);
std::string device();
/// Waits for all work that the calling thread has launched, on every device and stream. Work on
/// another library's stream that is no longer current is waited for by that library.
void synchronize();

/// From now on, appends each program that the process creates to the file, as text, once. `heddle
/// warm FILE` compiles such a file ahead of time. Several processes may share a file. "" stops
/// recording. HEDDLE_RECORD does the same from the start. FileError if the file cannot be written
/// or has other contents.
void record(const std::string& path);

/// From now on, programs are also looked up in a file written by `heddle cache export`, after the
/// cache's directories.
///
/// The file holds native code, which runs with the rights of this process: load only files that you
/// would execute. Throws TrustError, which names owner and mode, if users other than this one and
/// root may have written the file or may write to its folder, unless `trust` is Trust::anyone. If
/// HEDDLE_CACHE_KEY is set, the signature decides instead: TrustError if that key has not signed
/// the file. FileError if the file cannot be read or is not a bundle.
void load_bundle(const std::string& path, Trust trust = Trust::own);

/// Counters of this process. With HEDDLE_STATISTICS=1 most of them are written to standard error at
/// exit.
struct Statistics {
  std::uint64_t traces = 0;       ///< functions traced by jit
  std::uint64_t programs = 0;     ///< distinct programs requested by lazy evaluation and jit
  std::uint64_t compiled = 0;     ///< programs that were built, from the disk cache or by compiling
  std::uint64_t evaluations = 0;  ///< runs of a program
  std::uint64_t auto_evaluations = 0;  ///< evaluations that the library started on its own
  std::uint64_t kernels_launched = 0;
  std::uint64_t cache_hits = 0, cache_misses = 0;  ///< of the disk cache and of bundles
  std::uint64_t cache_ignored = 0;  ///< entries that are unreadable, untrusted or unsigned
  std::uint64_t cache_damaged = 0, cache_evicted = 0;           ///< deleted entries
  std::uint64_t cache_bytes_read = 0, cache_bytes_written = 0;  ///< of cache entries
  std::uint64_t compiler_runs = 0, modules_loaded = 0;
  double compile_milliseconds = 0;  ///< sum over all threads
  double load_milliseconds = 0;     ///< to load machine code into the process or onto the device
  std::int64_t pending_ops = 0;     ///< recorded ops that are not evaluated now
  std::int64_t pinned_bytes = 0;    ///< of buffers that only this thread's pending ops keep alive
};
/// Throws TrustError if HEDDLE_CACHE_KEY is set but unusable.
Statistics statistics();

}  // namespace heddle
