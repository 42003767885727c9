#include "passes/plan/sort.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

namespace heddle::passes {

namespace {

using Kind = SortKernel::Kind;
using Method = SortKernels::Method;

constexpr std::int64_t digits = 256;

std::int64_t key_bytes(const SortCall& step) {
  return static_cast<std::int64_t>(size_of(step.dtype));
}

/// Whether i32 can hold every index in a row.
bool narrow_indices(const SortCall& step) {
  return step.length.is_constant() &&
         step.length.constant() <= std::numeric_limits<std::int32_t>::max();
}

std::int64_t index_bytes(const SortCall& step) {
  if (!step.indices) return 0;
  return narrow_indices(step) ? 4 : 8;
}

std::int64_t element_bytes(const SortCall& step) { return key_bytes(step) + index_bytes(step); }

/// The size of a kernel's blocks. A multiprocessor must have registers for `least_blocks` of them.
struct BlockShape {
  int threads, items, rounds, least_blocks;
  std::int64_t tile() const { return std::int64_t{threads} * items * rounds; }
};

/// Merge tiles are powers of two, and small enough for every target.
BlockShape merge_shape(const SortCall& step) {
  const std::int64_t bytes = element_bytes(step);
  return {256, bytes <= 4 ? 16 : bytes <= 16 ? 8 : 4, 1, 1};
}

/// With many elements, a block counts in rounds, so that fewer blocks add up their counts.
BlockShape count_shape(const SortCall& step, const ir::Target& target) {
  BlockShape shape{512, key_bytes(step) <= 4 ? 8 : 4, 1, 3};
  const std::int64_t elements = step.rows.is_constant() && step.length.is_constant()
                                    ? step.rows.constant() * step.length.constant()
                                    : 0;
  const std::int64_t at_once =
      shape.tile() * shape.least_blocks * std::max(1, target.multiprocessors);
  shape.rounds = static_cast<int>(std::clamp<std::int64_t>(elements / at_once, 1, 8));
  return shape;
}

/// Tiles as large as registers allow, since larger tiles give longer runs of equal digits. Tuned on
/// an H200. Each of the first 256 threads holds the count of one digit.
BlockShape pass_shape(const SortCall& step) {
  const std::int64_t bytes = element_bytes(step);
  if (bytes <= 4) return {256, 28, 1, 4};
  return {384, bytes <= 8 ? 20 : 14, 1, 2};
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Sizes for a radix sort of rows of known length.
struct RadixSizes {
  std::int64_t tiles;           ///< tiles of a row that one pass moves
  std::int64_t word_bytes;      ///< of a count; two of its bits are its state
  std::int64_t count_blocks;    ///< blocks that count the digits of a row
  std::int64_t counts_a_block;  ///< bytes of counts for each of these blocks; together they hold
                                ///< the row's counts
  std::int64_t words_a_tile;    ///< bytes: one word for each digit, and one for the ticket
};

std::int64_t word_bytes(const SortCall& step) {
  return step.length.constant() < std::int64_t{1} << 30 ? 4 : 8;
}

RadixSizes radix_sizes(const SortCall& step) {
  RadixSizes sizes{};
  sizes.tiles = quotient_up(step.length.constant(), step.kernels->kernels[1].tile);
  sizes.word_bytes = word_bytes(step);
  sizes.count_blocks = quotient_up(step.length.constant(), step.kernels->kernels[0].tile);
  sizes.counts_a_block =
      quotient_up(digits * key_bytes(step), sizes.count_blocks) * sizes.word_bytes;
  sizes.words_a_tile = (digits + 1) * sizes.word_bytes;
  return sizes;
}

/// The number of passes that merge `runs` sorted runs into one.
std::int64_t merges_of(std::int64_t runs) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(runs, 1)) - 1);
}

std::int64_t merge_tile(const SortCall& step) { return merge_shape(step).tile(); }

/// Bytes moved. A pass of either method reads and writes all elements; counting digits also reads
/// the keys once.
std::int64_t merged_bytes(const SortCall& step, std::int64_t length) {
  return 2 * element_bytes(step) * (merges_of(quotient_up(length, merge_tile(step))) + 1);
}
std::int64_t scattered_bytes(const SortCall& step) {
  return (2 * element_bytes(step) + 1) * key_bytes(step);
}

bool is_disabled(const std::vector<std::string>& disabled, std::string_view name) {
  return std::find(disabled.begin(), disabled.end(), name) != disabled.end();
}

/// Microseconds, fitted to measurements on an H200 for 2^14 to 2^24 elements of 2 to 12 bytes.
/// Small merges are dominated by the latency of their searches. A radix pass also clears its
/// counters, and ranks every element.
double merge_time(const SortCall& step, double elements) {
  const std::int64_t runs = quotient_up(step.length.constant(), merge_tile(step));
  const auto passes = static_cast<double>(merges_of(runs) + 1);
  const auto moved = static_cast<double>(2 * element_bytes(step));
  return passes * std::max(12.0, elements * (8e-6 + 0.2e-6 * moved));
}
double radix_time(const SortCall& step, double elements) {
  const auto passes = static_cast<double>(key_bytes(step));
  const auto moved = static_cast<double>(2 * element_bytes(step));
  return 10 + elements * 2e-6 + passes * (10 + elements * (2.2e-6 + 0.36e-6 * moved));
}

/// The method with the smaller estimated time.
Method method_of(const SortCall& step, const std::vector<std::string>& disabled) {
  const bool has_digits = step.dtype != DType::c64 && step.dtype != DType::c128;
  if (!has_digits || !step.length.is_constant() || step.length.constant() <= merge_tile(step))
    return Method::merge;
  if (is_disabled(disabled, "radix_sort")) return Method::merge;
  if (is_disabled(disabled, "merge_sort")) return Method::radix;
  const std::int64_t rows = step.rows.is_constant() ? step.rows.constant() : 1;
  const auto elements = static_cast<double>(rows) * static_cast<double>(step.length.constant());
  return radix_time(step, elements) < merge_time(step, elements) ? Method::radix : Method::merge;
}

std::string_view name_of_kind(Kind kind) {
  static constexpr std::string_view names[] = {"tiles", "merge", "count", "pass"};
  return names[static_cast<std::size_t>(kind)];
}

/// Shared memory of a tile, in bytes. One slot in 33 stays unused, so that threads that each read
/// consecutive elements access different banks.
std::int64_t staged_bytes(const SortCall& step, std::int64_t tile) {
  return element_bytes(step) * (tile + tile / 32);
}

std::int64_t shared_bytes(const SortCall& step, Kind kind, const BlockShape& shape) {
  const std::int64_t warps = shape.threads / 32;
  switch (kind) {
    case Kind::tiles:
      return staged_bytes(step, shape.tile());
    case Kind::merge:
      return staged_bytes(step, shape.tile()) + 2 * 8;
    case Kind::count:
      return 4 * digits * key_bytes(step);
    case Kind::pass:
      break;
  }
  // The tile; a mask and a counter for each digit and warp; warp sums; start positions of digits.
  return quotient_up(element_bytes(step) * shape.tile(), 16) * 16 + 2 * 4 * warps * digits +
         8 * warps + word_bytes(step) * digits;
}

BlockShape shape_of(const SortCall& step, Kind kind, const ir::Target& target) {
  if (kind == Kind::tiles || kind == Kind::merge) return merge_shape(step);
  if (kind == Kind::count) return count_shape(step, target);
  BlockShape shape = pass_shape(step);
  while (shape.items > 1 && shared_bytes(step, kind, shape) > target.shared_bytes_per_block)
    --shape.items;
  return shape;
}

void add_kernel(SortPlans& plans, const SortCall& step, Kind kind, const ir::Target& target) {
  const BlockShape shape = shape_of(step, kind, target);
  KernelPlan plan;
  plan.family = "sort";
  plan.threads = shape.threads;
  plan.least_blocks = shape.least_blocks;
  plan.sort = SortKernel{kind,        step.dtype,  step.indices, narrow_indices(step) ? 32 : 64,
                         shape.items, shape.rounds};
  if (plans.launch.method == Method::radix)
    plan.sort->word_bits = static_cast<int>(8 * word_bytes(step));
  plan.name = fmt::format("hd_{}_{}_{}", step.indices ? "argsort" : "sort", name_of_kind(kind),
                          name_of(step.dtype));
  plans.launch.kernels.push_back({static_cast<std::uint32_t>(plans.kernels.size()),
                                  static_cast<std::uint32_t>(shared_bytes(step, kind, shape)),
                                  static_cast<std::uint32_t>(shape.threads), shape.tile()});
  plans.kernels.push_back(std::move(plan));
}

Parameter buffer(const BufferRef& reference, bool written, std::int64_t cleared = 0) {
  Parameter parameter;
  parameter.buffer = reference;
  parameter.written = written;
  parameter.cleared = cleared;
  return parameter;
}

Parameter size(std::int64_t value) {
  Parameter parameter;
  parameter.kind = Parameter::Kind::size;
  parameter.value = value;
  return parameter;
}

/// Builds the launches of a sort. Pass number `last` (from 0) writes the result to `out`; earlier
/// passes alternate between two buffers.
class Launches {
 public:
  Launches(const SortCall& step, std::int64_t last) : step_(step), last_(last) {}

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
    launch.block[0] = kernels.kernels[kernel].threads;
    launch.grid = {{blocks, 1}};
    return launch;
  }

  /// Appends the last parameters of kernels that move elements.
  void add_results(KernelStep& launch, std::int64_t pass) const {
    launch.parameters.push_back(buffer(keys(pass), true));
    if (!step_.indices) return;
    launch.parameters.push_back(buffer(places(pass), true));
    launch.parameters.push_back(buffer(step_.out, true));
    launch.parameters.push_back(size(pass == last_ ? 1 : 0));
  }

  std::vector<KernelStep> result;

 private:
  const SortCall& step_;
  std::int64_t last_;
};

std::vector<KernelStep> merge_launches(const SortCall& step, std::int64_t rows,
                                       std::int64_t length) {
  const std::int64_t tile = step.kernels->kernels[0].tile;
  // The length of a run is a power of two. Several short rows share a block.
  const std::int64_t least = tile / step.kernels->kernels[0].threads;
  std::int64_t width = least, width_bits = std::bit_width(static_cast<std::uint64_t>(least)) - 1;
  for (; width < length && width < tile; width *= 2) ++width_bits;
  const std::int64_t tiles = (length + width - 1) / width, merges = merges_of(tiles);
  const std::int64_t runs_a_block = tile / width;
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

std::vector<KernelStep> radix_launches(const SortCall& step, std::int64_t rows,
                                       std::int64_t length) {
  const RadixSizes sizes = radix_sizes(step);
  const std::int64_t passes = key_bytes(step);
  const BufferRef counts = step.scratch[step.scratch.size() - 2], words = step.scratch.back();
  Launches launches(step, passes);
  launches.add(0, rows * sizes.count_blocks).parameters = {
      size(length), buffer(step.keys, false), buffer(counts, true, sizes.counts_a_block)};
  for (std::int64_t pass = 1; pass <= passes; ++pass) {
    const BufferRef from = pass == 1 ? step.keys : launches.keys(pass - 1);
    KernelStep& launch = launches.add(1, rows * sizes.tiles);
    launch.parameters = {size(length), size(8 * (pass - 1)), buffer(from, false)};
    if (step.indices) {
      launch.parameters.push_back(size(pass == 1 ? 1 : 0));
      launch.parameters.push_back(buffer(launches.places(pass - 1), false));
    }
    launch.parameters.push_back(buffer(counts, false));
    launch.parameters.push_back(buffer(words, true, sizes.words_a_tile));
    launches.add_results(launch, pass);
  }
  return std::move(launches.result);
}

}  // namespace

SortPlans plan_sort(const SortCall& step, const ir::Target& target,
                    const std::vector<std::string>& disabled) {
  SortPlans plans;
  plans.launch.method = method_of(step, disabled);
  if (plans.launch.method == Method::radix) {
    for (const Kind kind : {Kind::count, Kind::pass}) add_kernel(plans, step, kind, target);
    return plans;
  }
  add_kernel(plans, step, Kind::tiles, target);
  const bool one_tile = step.length.is_constant() && step.length.constant() <= merge_tile(step);
  if (!one_tile) add_kernel(plans, step, Kind::merge, target);
  return plans;
}

std::int64_t host_index_bytes(DType dtype) { return size_of(dtype) <= 4 ? 2 * 8 : 2 * 16; }

std::vector<Dim> scratch_bytes(const SortCall& step) {
  const Dim count = step.rows * step.length;
  const Dim keys = count * Dim(key_bytes(step)), places = count * Dim(index_bytes(step));
  if (!step.kernels) return {step.indices ? count * Dim(host_index_bytes(step.dtype)) : keys};
  if (step.kernels->kernels.size() == 1) return {};
  std::vector<Dim> bytes = {keys};
  if (step.indices) bytes = {keys, keys, places, places};
  if (step.kernels->method == Method::radix) {
    const RadixSizes sizes = radix_sizes(step);
    bytes.push_back(step.rows * Dim(sizes.count_blocks * sizes.counts_a_block));
    bytes.push_back(step.rows * Dim(sizes.tiles * sizes.words_a_tile));
  }
  return bytes;
}

std::vector<KernelStep> launches(const SortCall& step, std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return {};
  return step.kernels->method == Method::radix ? radix_launches(step, rows, length)
                                               : merge_launches(step, rows, length);
}

Dim extra_bytes(const SortCall& step) {
  if (!step.kernels || !step.length.is_constant()) return 0;
  const bool radix = step.kernels->method == Method::radix;
  const std::int64_t all =
      radix ? scattered_bytes(step) : merged_bytes(step, step.length.constant());
  // Indices are not read by the first pass, and not stored by the last.
  return step.rows * step.length * Dim(all - 2 * element_bytes(step));
}

}  // namespace heddle::passes
