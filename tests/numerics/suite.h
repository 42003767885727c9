#pragma once

#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "tests/cases/check.h"
#include "tests/support/samples.h"

namespace heddle::test {

/// A case while a test builds it.
class Builder {
 public:
  explicit Builder(std::string label);

  ir::ValueId input(ir::HostArray array, bool aligned = true);
  /// An input whose extents are symbols; `array` is for the first run.
  ir::ValueId input(ir::HostArray array, const ir::Shape& shape);
  ir::ValueId scalar(ir::HostArray array);
  ir::ValueId add(ir::Op op, std::vector<ir::ValueId> operands, ir::Attributes attributes = {});
  ir::ValueId constant(DType dtype, double value);
  ir::ValueId cast(ir::ValueId value, DType dtype);
  ir::ValueId reshape(ir::ValueId value, ir::Shape shape);
  ir::ValueId broadcast(ir::ValueId value, ir::Shape shape);
  ir::ValueId transpose(ir::ValueId value, std::vector<std::int64_t> axes);
  ir::ValueId slice(ir::ValueId value, ir::Dims starts, ir::Dims steps, ir::Shape shape);
  ir::ValueId update(ir::ValueId base, ir::ValueId value, ir::Dims starts, ir::Dims steps,
                     ir::Shape shape);
  ir::ValueId concatenate(std::vector<ir::ValueId> parts, std::int64_t axis);
  ir::ValueId reduce(ir::Op op, ir::ValueId value, std::vector<std::int64_t> axes, bool keepdims);
  ir::ValueId scan(ir::Op op, ir::ValueId value, std::int64_t axis);
  /// Begun anew where `begins` says so.
  ir::ValueId scan(ir::Op op, ir::ValueId value, ir::ValueId begins, std::int64_t axis);
  void output(ir::ValueId value) { made.graph.outputs.push_back(value); }
  /// Further inputs to run the same program on.
  void run_also(std::vector<ir::HostArray> inputs) { more_inputs.push_back(std::move(inputs)); }

  Case made;
  std::string label;
  std::vector<std::vector<ir::HostArray>> more_inputs;
  double most_ambiguous = 0.05;  ///< share of an output that may have no definite value
};

/// Runs cases in batches: by the interpreter, on the host, emulated, and where HEDDLE_DEVICE names
/// a GPU on it instead of the last two; each against NumPy, and kernels for the emulator through
/// NVRTC for sm_90. While a batch is checked, the next one compiles.
class Suite {
 public:
  explicit Suite(ir::Target target = ir::parse_target("sm_90:h200"));
  /// Prints what was run.
  ~Suite();
  void add(Builder&& builder);
  /// Runs what is left.
  void finish();
  /// In how many outputs of runs elements of definite value that depend on an op were compared, for
  /// its first operand's dtype, or for a source's own.
  std::size_t compared(ir::Op op, DType dtype) const { return compared(ir::info(op).name, dtype); }
  std::size_t compared(std::string_view op, DType dtype) const;
  /// Outputs of runs in which every way gave the interpreter's bits.
  std::size_t bitwise() const { return bitwise_; }
  /// Fails for every dtype of every op of the kind that was compared less than `least` times.
  void require(ir::OpKind kind, std::size_t least = 1) const;
  void require(const ir::CallOp& op, std::size_t least) const;

 private:
  void require(std::string_view op, ir::DTypeSet dtypes, std::size_t least) const;

  struct Pending {
    std::vector<Builder> builders;
    std::unique_ptr<CheckedBatch> batch;
  };
  void start();
  Pending wait();
  void check(Pending&& pending);
  void check_run(CheckedBatch& batch, std::size_t index, const Builder& builder,
                 std::span<const ir::HostArray> inputs, std::vector<CheckedBatch::Share>& total);
  void count(const ir::Graph& graph, ir::ValueId output);

  ir::Target target_;
  std::vector<Builder> collected_;
  std::future<Pending> compiling_;
  std::map<std::pair<std::string_view, DType>, std::size_t> compared_;  ///< by op and dtype
  std::size_t cases_ = 0, runs_ = 0, kernels_ = 0, bitwise_ = 0;
  double waited_ = 0, checked_ = 0;  ///< seconds
};

/// A few multiprocessors, so that reductions of some thousand elements are split.
ir::Target small_target();

/// Random integers of [low, high) in a dtype; equal seeds give equal values.
ir::HostArray integers(DType dtype, const ir::Shape& shape, std::int64_t low, std::int64_t high,
                       std::uint64_t seed);

/// All dtypes of a set, in order.
std::vector<DType> dtypes_in(ir::DTypeSet set);
/// All ops of a kind, in the table's order.
std::vector<ir::Op> ops_of(ir::OpKind kind);

}  // namespace heddle::test
