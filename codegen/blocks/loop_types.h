#pragma once

/// The interface of the ready-made loops (loop_templates.h). No standard headers: kernels' code
/// includes it too.
namespace heddle_blocks {

typedef long long Index;

/// Applies an op to `n` elements: to[k] = op(from[0][k], from[1][k] ...). `to` overlaps no operand.
typedef void (*MapLoop)(void* to, const void* const* from, Index n);

/// The number of lanes of a reduction whose result does not depend on their number.
constexpr int unordered_lanes = 32;

/// The loops of one reduction. A state is that of ir/scalar/reduce.h, for the CPU.
struct ReductionLoops {
  int state_bytes;
  void (*identity)(void* states, Index n);
  /// Element k, which is number at + k of its row, goes to state (at + k) % width. `width` is 1,
  /// 16, 32 or 64; unordered_lanes if the result does not depend on it. Not for argmin and argmax
  /// of real numbers.
  void (*lanes)(void* states, int width, const void* values, Index at, Index n);
  /// Combines the states of all lanes into the first: the order of combine_lanes.
  void (*halve)(void* states, int width);
  /// Element k goes to state k. All are number `row` of their columns.
  void (*columns)(void* states, const void* values, Index row, Index n);
  /// below[k] = combine(below[k], top[k])
  void (*join)(void* below, const void* top, Index n);
  /// to[k] is the result of state k.
  void (*finish)(void* to, const void* states, Index n);
  /// argmin and argmax of real numbers: elements number at, at + 1 ... of a row go to one state.
  void (*extreme)(void* state, const void* values, Index at, Index n);
};

/// to[k] is the number of the `count` sorted elements that come before values[k].
typedef void (*SearchLoop)(void* to, const void* values, const void* sorted, Index count, Index n);

/// The loops of one scan. A running scan is a heddle_scalar::scan::Running.
struct ScanLoops {
  int state_bytes;
  int row_bytes, columns_bytes;  ///< of the running scan of one row, and of scan_columns rows
  void (*begin_row)(void* running);
  void (*begin_columns)(void* running);
  void (*identity)(void* states, Index n);
  /// State k is that of element k. `begins`, bools, says where a segmented scan restarts.
  void (*lift)(void* states, const void* values, const void* begins, Index n);
  /// Replaces the states of the next scan_run elements of a row by the scans up to them.
  void (*add_run)(void* running, void* states);
  void (*add_one)(void* running, void* state);
  /// Replaces the states of the next element of each of `width` rows by the scans up to them.
  void (*add_columns)(void* running, void* states, Index width);
  void (*finish)(void* to, const void* states, Index n);
};
constexpr int scan_run = 64;
constexpr int scan_columns = 128;  ///< passes::host_scan_columns

}  // namespace heddle_blocks
