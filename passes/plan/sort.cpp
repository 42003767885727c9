#include "passes/plan/sort.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

namespace heddle::passes {

namespace {

using Kind = SortKernel::Kind;
using Method = SortKernels::Method;

constexpr int threads = 256;
constexpr std::int64_t digits = 256;  ///< as many as threads: each keeps the count of one
constexpr std::int64_t warps = threads / 32;

std::int64_t key_bytes(const SortStep& step) {
  return static_cast<std::int64_t>(size_of(step.dtype));
}

/// i32 where every place in a row has one.
bool narrow_indices(const SortStep& step) {
  return step.length.is_constant() &&
         step.length.constant() <= std::numeric_limits<std::int32_t>::max();
}

std::int64_t index_bytes(const SortStep& step) {
  if (!step.indices) return 0;
  return narrow_indices(step) ? 4 : 8;
}

std::int64_t element_bytes(const SortStep& step) { return key_bytes(step) + index_bytes(step); }

/// Elements of a thread: as many as leave room for several blocks.
int items_of(const SortStep& step) {
  const std::int64_t bytes = element_bytes(step);
  return bytes <= 4 ? 16 : bytes <= 16 ? 8 : 4;
}

std::int64_t tiles_of(const SortStep& step, std::int64_t length) {
  const std::int64_t tile = std::int64_t{threads} * items_of(step);
  return (length + tile - 1) / tile;
}

/// Passes that merge so many sorted runs into one.
std::int64_t merges_of(std::int64_t runs) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(runs, 1)) - 1);
}

/// A pass of either method reads and writes all elements; counting digits reads the keys again.
std::int64_t merged_bytes(const SortStep& step, std::int64_t length) {
  return 2 * element_bytes(step) * (merges_of(tiles_of(step, length)) + 1);
}
std::int64_t scattered_bytes(const SortStep& step) {
  return (2 * element_bytes(step) + key_bytes(step)) * key_bytes(step);
}

bool is_disabled(const std::vector<std::string>& disabled, std::string_view name) {
  return std::find(disabled.begin(), disabled.end(), name) != disabled.end();
}

/// Whichever moves less. Counts are of 32 bits.
Method method_of(const SortStep& step, const std::vector<std::string>& disabled) {
  const bool has_digits = step.dtype != DType::c64 && step.dtype != DType::c128;
  if (!has_digits || !narrow_indices(step) || tiles_of(step, step.length.constant()) <= 1)
    return Method::merge;
  if (is_disabled(disabled, "radix_sort")) return Method::merge;
  if (is_disabled(disabled, "merge_sort")) return Method::radix;
  return scattered_bytes(step) < merged_bytes(step, step.length.constant()) ? Method::radix
                                                                            : Method::merge;
}

std::string_view name_of_kind(Kind kind) {
  static constexpr std::string_view names[] = {"tiles", "merge", "count", "scan", "scatter"};
  return names[static_cast<std::size_t>(kind)];
}

/// Shared memory of a tile. One slot in 33 stays free, so that threads that read their own
/// neighbours meet other banks.
std::int64_t staged_bytes(const SortStep& step) {
  const std::int64_t tile = std::int64_t{threads} * items_of(step);
  return element_bytes(step) * (tile + tile / 32);
}

std::int64_t shared_bytes(const SortStep& step, Kind kind) {
  constexpr std::int64_t counters = 4 * warps * digits, sums = 4 * warps;
  switch (kind) {
    case Kind::tiles:
      return staged_bytes(step);
    case Kind::merge:
      return staged_bytes(step) + 2 * 8;
    case Kind::count:
      return counters;
    case Kind::scan:
      return sums;
    case Kind::scatter:
      break;
  }
  return staged_bytes(step) + counters + 4 * digits + sums;
}

void add_kernel(SortPlans& plans, const SortStep& step, Kind kind) {
  KernelPlan plan;
  plan.family = "sort";
  plan.threads = threads;
  plan.sort =
      SortKernel{kind, step.dtype, step.indices, narrow_indices(step) ? 32 : 64, items_of(step)};
  plan.name = fmt::format("hd_{}_{}_{}", step.indices ? "argsort" : "sort", name_of_kind(kind),
                          name_of(step.dtype));
  plans.launch.kernels.push_back({static_cast<std::uint32_t>(plans.kernels.size()),
                                  static_cast<std::uint32_t>(shared_bytes(step, kind))});
  plans.kernels.push_back(std::move(plan));
}

Parameter buffer(const BufferRef& reference, bool written) {
  Parameter parameter;
  parameter.buffer = reference;
  parameter.written = written;
  return parameter;
}

Parameter size(std::int64_t value) {
  Parameter parameter;
  parameter.kind = Parameter::Kind::size;
  parameter.value = value;
  return parameter;
}

/// The launches of a sort in the making. Pass `last` of 0, 1 ... leaves its result in `out`; those
/// before swing between two places.
class Launches {
 public:
  Launches(const SortStep& step, std::int64_t last) : step_(step), last_(last) {}

  BufferRef keys(std::int64_t pass) const {
    if (step_.scratch.empty()) return step_.out;
    if (step_.indices) return step_.scratch[pass % 2];
    return (last_ - pass) % 2 == 0 ? step_.out : step_.scratch[0];
  }
  BufferRef places(std::int64_t pass) const {
    return step_.scratch.empty() ? step_.out : step_.scratch[2 + pass % 2];
  }

  KernelStep& add(std::size_t kernel, std::int64_t blocks) {
    const SortKernels& kernels = *step_.kernels;
    KernelStep& launch = result.emplace_back();
    launch.kernel = kernels.kernels[kernel].kernel;
    launch.shared_bytes = kernels.kernels[kernel].shared_bytes;
    launch.block[0] = kernels.threads;
    launch.grid = {{blocks, 1}};
    return launch;
  }

  /// The parameters that kernels which move elements end in.
  void add_results(KernelStep& launch, std::int64_t pass) const {
    launch.parameters.push_back(buffer(keys(pass), true));
    if (!step_.indices) return;
    launch.parameters.push_back(buffer(places(pass), true));
    launch.parameters.push_back(buffer(step_.out, true));
    launch.parameters.push_back(size(pass == last_ ? 1 : 0));
  }

  std::vector<KernelStep> result;

 private:
  const SortStep& step_;
  std::int64_t last_;
};

std::vector<KernelStep> merge_launches(const SortStep& step, std::int64_t rows,
                                       std::int64_t length) {
  const SortKernels& kernels = *step.kernels;
  // Runs are powers of two; several short rows share a block.
  const std::int64_t least = kernels.tile / kernels.threads;
  std::int64_t width = least, width_bits = std::bit_width(static_cast<std::uint64_t>(least)) - 1;
  for (; width < length && width < kernels.tile; width *= 2) ++width_bits;
  const std::int64_t tiles = (length + width - 1) / width, merges = merges_of(tiles);
  const std::int64_t runs_a_block = kernels.tile / width;
  Launches launches(step, merges);
  KernelStep& first = launches.add(0, (rows * tiles + runs_a_block - 1) / runs_a_block);
  first.parameters = {size(rows), size(length), size(width_bits), buffer(step.keys, false)};
  launches.add_results(first, 0);
  std::int64_t run = width;
  for (std::int64_t pass = 1; pass <= merges; ++pass, run *= 2) {
    KernelStep& merge = launches.add(1, rows * tiles);
    merge.parameters = {size(length), size(run), buffer(launches.keys(pass - 1), false)};
    if (step.indices) merge.parameters.push_back(buffer(launches.places(pass - 1), false));
    launches.add_results(merge, pass);
  }
  return std::move(launches.result);
}

std::vector<KernelStep> radix_launches(const SortStep& step, std::int64_t rows,
                                       std::int64_t length) {
  const std::int64_t tiles = tiles_of(step, length), passes = key_bytes(step);
  const BufferRef counts = step.scratch[step.scratch.size() - 2], totals = step.scratch.back();
  Launches launches(step, passes);
  for (std::int64_t pass = 1; pass <= passes; ++pass) {
    const BufferRef from = pass == 1 ? step.keys : launches.keys(pass - 1);
    const Parameter shift = size(8 * (pass - 1));
    launches.add(0, rows * tiles).parameters = {size(length), shift, buffer(from, false),
                                                buffer(counts, true)};
    launches.add(1, rows * digits).parameters = {size(tiles), buffer(counts, true),
                                                 buffer(totals, true)};
    KernelStep& scatter = launches.add(2, rows * tiles);
    scatter.parameters = {size(length), shift, buffer(from, false)};
    if (step.indices) {
      scatter.parameters.push_back(size(pass == 1 ? 1 : 0));
      scatter.parameters.push_back(buffer(launches.places(pass - 1), false));
    }
    scatter.parameters.push_back(buffer(counts, false));
    scatter.parameters.push_back(buffer(totals, false));
    launches.add_results(scatter, pass);
  }
  return std::move(launches.result);
}

}  // namespace

SortPlans plan_sort(const SortStep& step, const std::vector<std::string>& disabled) {
  SortPlans plans;
  plans.launch.method = method_of(step, disabled);
  plans.launch.tile = std::int64_t{threads} * items_of(step);
  plans.launch.threads = threads;
  if (plans.launch.method == Method::radix) {
    for (const Kind kind : {Kind::count, Kind::scan, Kind::scatter}) add_kernel(plans, step, kind);
    return plans;
  }
  add_kernel(plans, step, Kind::tiles);
  const bool one_tile = step.length.is_constant() && step.length.constant() <= plans.launch.tile;
  if (!one_tile) add_kernel(plans, step, Kind::merge);
  return plans;
}

std::vector<Dim> scratch_bytes(const SortStep& step) {
  const Dim count = step.rows * step.length;
  const Dim keys = count * Dim(key_bytes(step)), places = count * Dim(index_bytes(step));
  // On the host, as much as the result.
  if (!step.kernels) return {step.indices ? count * Dim(8) : keys};
  if (step.kernels->kernels.size() == 1) return {};
  std::vector<Dim> bytes = {keys};
  if (step.indices) bytes = {keys, keys, places, places};
  if (step.kernels->method == Method::radix) {
    const Dim counts = step.rows * Dim(4 * digits);
    bytes.push_back(counts * Dim(tiles_of(step, step.length.constant())));
    bytes.push_back(counts);
  }
  return bytes;
}

std::vector<KernelStep> launches(const SortStep& step, std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return {};
  return step.kernels->method == Method::radix ? radix_launches(step, rows, length)
                                               : merge_launches(step, rows, length);
}

Dim extra_bytes(const SortStep& step) {
  if (!step.kernels || !step.length.is_constant()) return 0;
  const bool radix = step.kernels->method == Method::radix;
  const std::int64_t all =
      radix ? scattered_bytes(step) : merged_bytes(step, step.length.constant());
  // Places are neither read by the first pass nor kept by the last.
  return step.rows * step.length * Dim(all - 2 * element_bytes(step));
}

}  // namespace heddle::passes
