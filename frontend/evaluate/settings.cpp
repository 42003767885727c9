#include "heddle/settings.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/evaluate/pending_memory.h"
#include "frontend/graph/node.h"
#include "frontend/graph/precision.h"
#include "frontend/graph/record.h"
#include "ir/base/environment.h"
#include "runtime/base/statistics.h"
#include "runtime/cache/store.h"
#include "runtime/compile/recording.h"
#include "runtime/device/device.h"
#include "runtime/device/stream.h"
#include "runtime/libraries/autotune.h"
#include "runtime/libraries/communicator.h"

namespace heddle {

namespace {

std::atomic<Precision> default_precision{Precision::ieee};
thread_local std::optional<Precision> thread_precision;

}  // namespace

bool frontend::waiting_forbidden() {
  static const bool forbidden = ir::flag(ir::Variable::no_sync, false);
  return forbidden;
}

void frontend::require_waiting(const char* what, const Site& where) {
  if (!waiting_forbidden()) return;
  throw ValueError(frontend::at(
      fmt::format("{} waits for the device, which HEDDLE_NO_SYNC=1 forbids", what), where));
}

std::optional<Precision> frontend::exchange_thread_precision(std::optional<Precision> precision) {
  return std::exchange(thread_precision, precision);
}

Precision set_matmul_precision(Precision precision) {
  return default_precision.exchange(precision, std::memory_order_relaxed);
}

bool set_autotune(bool enabled) { return runtime::set_autotuning(enabled); }

Precision matmul_precision() {
  return thread_precision.value_or(default_precision.load(std::memory_order_relaxed));
}

MatmulPrecision::MatmulPrecision(std::optional<Precision> precision) : before_(thread_precision) {
  if (precision) thread_precision = precision;
}

MatmulPrecision::~MatmulPrecision() { thread_precision = before_; }

bool auto_eval(bool enabled) { return frontend::set_auto_eval(enabled); }

void set_device(const std::string& name) {
  runtime::set_current_device(runtime::parse_device(name));
}

std::string device() { return runtime::to_string(runtime::current_device()); }

void synchronize() {
  runtime::settle_communication();
  runtime::synchronize_thread();
  frontend::raise_failures();
}

void record(const std::string& path) { runtime::record(path); }

void load_bundle(const std::string& path, Trust trust) {
  namespace cache = runtime::cache;
  const auto foreign = trust == Trust::anyone ? cache::Foreign::taken : cache::Foreign::refused;
  cache::Store::global().add_bundle(cache::Bundle(cache::read_shipped(path, foreign), path));
}

Statistics statistics() {
  const frontend::Counters& counters = frontend::counters();
  Statistics result;
  result.traces = counters.traces;
  result.programs = counters.programs;
  result.evaluations = counters.evaluations;
  result.auto_evaluations = counters.auto_evaluations;
  result.kernels_launched = runtime::statistics().kernel_launches;
  result.compiled = runtime::statistics().programs_made;
  result.modules_loaded = runtime::statistics().modules_loaded;
  result.load_milliseconds = runtime::statistics().load_milliseconds();
  const runtime::cache::Statistics cache = runtime::cache::Store::global().statistics();
  result.cache_hits = cache.hits;
  result.cache_misses = cache.misses;
  result.cache_ignored = cache.ignored;
  result.cache_damaged = cache.bad_entries;
  result.cache_evicted = cache.evicted;
  result.cache_bytes_read = cache.bytes_read;
  result.cache_bytes_written = cache.bytes_written;
  result.compiler_runs = cache.compiles;
  result.compile_milliseconds = cache.compile_milliseconds;
  result.pending_ops = frontend::Recorder::total_pending();
  result.pinned_bytes = frontend::memory_of_pending(frontend::Recorder::current()).frees;
  return result;
}

}  // namespace heddle
