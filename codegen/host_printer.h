#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/body.h"
#include "codegen/printers.h"

namespace heddle::codegen {

/// For every array on a kernel's stack: GCC's vectorizer may raise an array's alignment and the
/// function's prologue forget it (seen with GCC 12 and AVX-512), which one in two callers survives.
inline constexpr const char* aligned = "alignas(64) ";

/// Whether the reduction looks for a place by integer keys (ir/scalar/reduce.h).
inline bool finds_place(const passes::Reduction& reduction) {
  return reduction.value >= 0 && !is_complex(reduction.dtype) && ir::finds_place(reduction.op);
}

/// Prints one plan for the host. host_columns.cpp holds the mapping of columns, host_scan.cpp those
/// of scans.
class HostPrinter {
 public:
  explicit HostPrinter(const passes::KernelPlan& plan) : plan_(plan), body_(plan, out_) {}
  KernelSource print();

 private:
  void unpack();
  void hide_extents();
  void elements();
  void tiles();
  void rows();
  void row_values(int stage);
  void row_stage(int stage);
  void row_lanes(int stage, const std::vector<int>& reductions);
  void row_extreme(int reduction);
  void row_results();
  void columns();
  void begin_columns(int reduction);
  void column_walk(const std::vector<int>& roots);
  std::string column_states(const char* format_of_state, const char* format_of_key) const;
  void scan_rows();
  void scan_columns();
  void scan_run(const std::string& variable, const std::string& first,
                const std::function<void(std::size_t)>& scan);
  void scan_earlier_parts(const std::string& element, const std::string& count);
  void scan_row_stores();
  bool leaves_parts() const;
  void split_range(const char* part);
  /// Runs over the last loop: opens a loop over its runs within [from, to), its variable between
  /// `first` and `stop`.
  void open_runs(const std::vector<passes::Loop>& loops, const std::string& from,
                 const std::string& to);
  void declare_all(const std::vector<int>& instructions);
  std::string element(const passes::Instruction& load);
  std::string storage(const passes::KernelOperand& operand) const;
  void store(const passes::Store& store);
  int lanes(const std::vector<int>& reductions) const;

  const passes::KernelPlan& plan_;
  Writer out_;
  Body body_;
};

}  // namespace heddle::codegen
