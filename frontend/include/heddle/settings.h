#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/precision.h"

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
/// cache's directories. FileError where it cannot be read or is no such file.
void load_bundle(const std::string& path);

/// What the process has done so far.
struct Statistics {
  std::uint64_t traces = 0;       ///< functions traced by jit
  std::uint64_t programs = 0;     ///< distinct programs asked for by lazy evaluation and jit
  std::uint64_t compiled = 0;     ///< those that were made, from the disk cache or by compiling
  std::uint64_t evaluations = 0;  ///< runs of a program
  std::uint64_t auto_evaluations = 0;  ///< those that the library decided on
  std::uint64_t kernels_launched = 0;
  std::int64_t pending_ops = 0;   ///< recorded and not evaluated, now
  std::int64_t pinned_bytes = 0;  ///< of buffers that only this thread's pending ops keep
};
Statistics statistics();

}  // namespace heddle
