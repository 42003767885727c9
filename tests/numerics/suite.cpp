#include "tests/numerics/suite.h"

#include <chrono>
#include <cstring>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/types/constant.h"

namespace heddle::test {
namespace {

using ir::Attributes;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

constexpr std::size_t batch_size = 48;

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::vector<Way> ways() {
  if (tests_on_gpu()) return {Way::interpreter, Way::device};
  return {Way::interpreter, Way::host, Way::emulated};
}

}  // namespace

Builder::Builder(std::string name) : label(std::move(name)) {
  made.graph.name = "numerics";
  made.graph.fold_constants = false;
}

ValueId Builder::input(HostArray array, bool aligned) {
  const Shape shape = array.type.shape;
  const ValueId id = input(std::move(array), shape);
  made.options.aligned.back() = aligned;
  return id;
}

ValueId Builder::input(HostArray array, const Shape& shape) {
  const ValueId id = made.graph.parameter(array.type.dtype, shape);
  made.inputs.push_back(std::move(array));
  made.options.aligned.push_back(true);
  return id;
}

ValueId Builder::scalar(HostArray array) {
  const ValueId id = made.graph.scalar_parameter(array.type.dtype);
  made.inputs.push_back(std::move(array));
  made.options.aligned.push_back(true);
  return id;
}

ValueId Builder::add(Op op, std::vector<ValueId> operands, Attributes attributes) {
  return made.graph.add(op, operands, std::move(attributes));
}

ValueId Builder::cast(ValueId value, DType dtype) {
  Attributes attributes;
  attributes.dtype = dtype;
  return add(Op::cast, {value}, attributes);
}

ValueId Builder::reshape(ValueId value, Shape shape) {
  Attributes attributes;
  attributes.shape = std::move(shape);
  return add(Op::reshape, {value}, attributes);
}

ValueId Builder::broadcast(ValueId value, Shape shape) {
  Attributes attributes;
  attributes.shape = std::move(shape);
  return add(Op::broadcast_to, {value}, attributes);
}

ValueId Builder::transpose(ValueId value, std::vector<std::int64_t> axes) {
  Attributes attributes;
  attributes.axes = std::move(axes);
  return add(Op::transpose, {value}, attributes);
}

ValueId Builder::slice(ValueId value, ir::Dims starts, ir::Dims steps, Shape shape) {
  Attributes attributes;
  attributes.starts = std::move(starts);
  attributes.steps = std::move(steps);
  attributes.shape = std::move(shape);
  return add(Op::slice, {value}, attributes);
}

ValueId Builder::update(ValueId base, ValueId value, ir::Dims starts, ir::Dims steps, Shape shape) {
  Attributes attributes;
  attributes.starts = std::move(starts);
  attributes.steps = std::move(steps);
  attributes.shape = std::move(shape);
  return add(Op::slice_update, {base, value}, attributes);
}

ValueId Builder::concatenate(std::vector<ValueId> parts, std::int64_t axis) {
  Attributes attributes;
  attributes.axes = {axis};
  return add(Op::concatenate, std::move(parts), attributes);
}

ValueId Builder::scan(Op op, ValueId value, std::int64_t axis) {
  Attributes attributes;
  attributes.axes = {axis};
  return add(op, {value}, attributes);
}

ValueId Builder::scan(Op op, ValueId value, ValueId begins, std::int64_t axis) {
  Attributes attributes;
  attributes.axes = {axis};
  return add(op, {value, begins}, attributes);
}

ValueId Builder::reduce(Op op, ValueId value, std::vector<std::int64_t> axes, bool keepdims) {
  Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.keepdims = keepdims;
  return add(op, {value}, attributes);
}

ValueId Builder::constant(DType dtype, double value) {
  return made.graph.constant(dtype, ir::constant_bits(dtype, value));
}

Suite::Suite(ir::Target target) : target_(std::move(target)) {}

Suite::~Suite() {
  fmt::print(
      "{} cases, {} runs, {} CUDA kernels; {:.0f} s of checks, {:.0f} s waiting for compilers\n",
      cases_, runs_, kernels_, checked_, waited_);
}

void Suite::add(Builder&& builder) {
  collected_.push_back(std::move(builder));
  if (collected_.size() == batch_size) start();
}

void Suite::start() {
  Pending ready;
  if (compiling_.valid()) ready = wait();
  compiling_ = std::async(
      std::launch::async, [builders = std::move(collected_), target = target_]() mutable {
        Pending pending{std::move(builders), nullptr};
        std::vector<Case> cases;
        for (const Builder& builder : pending.builders) cases.push_back(builder.made);
        std::vector<std::vector<Way>> all(cases.size(), ways());
        pending.batch = std::make_unique<CheckedBatch>(std::move(cases), std::move(all), target);
        compile_with_nvrtc(pending.batch->emulated_kernels(), "sm_90");
        return pending;
      });
  collected_.clear();
  if (ready.batch) check(std::move(ready));
}

void Suite::finish() {
  if (!collected_.empty()) start();
  if (compiling_.valid()) check(wait());
}

Suite::Pending Suite::wait() {
  const Stopwatch stopwatch(waited_);
  return compiling_.get();
}

void Suite::check(Pending&& pending) {
  const Stopwatch stopwatch(checked_);
  kernels_ += pending.batch->emulated_kernels().size();
  for (std::size_t i = 0; i < pending.builders.size(); ++i) {
    const Builder& builder = pending.builders[i];
    ++cases_;
    std::vector<CheckedBatch::Share> total(builder.made.graph.outputs.size());
    check_run(*pending.batch, i, builder, builder.made.inputs, total);
    for (const std::vector<HostArray>& inputs : builder.more_inputs) {
      check_run(*pending.batch, i, builder, inputs, total);
    }
    for (std::size_t k = 0; k < total.size(); ++k) {
      const auto some = static_cast<double>(total[k].elements);
      CHECK_MESSAGE(static_cast<double>(total[k].ambiguous) <= builder.most_ambiguous * some,
                    builder.label << ", output " << k << ": " << total[k].ambiguous << " of "
                                  << total[k].elements << " elements have no definite value\n"
                                  << ir::print(builder.made.graph));
    }
  }
}

void Suite::check_run(CheckedBatch& batch, std::size_t index, const Builder& builder,
                      std::span<const HostArray> inputs, std::vector<CheckedBatch::Share>& total) {
  ++runs_;
  const std::optional<Finding> finding = batch.check(index, inputs);
  CHECK_MESSAGE(!finding, builder.label << ", " << (finding ? name_of(finding->way) : "") << ": "
                                        << (finding ? finding->message : "") << "\n"
                                        << ir::print(builder.made.graph));
  if (finding) return;
  for (std::size_t k = 0; k < total.size(); ++k) {
    const CheckedBatch::Share& share = batch.shares()[k];
    total[k].elements += share.elements;
    total[k].ambiguous += share.ambiguous;
    bitwise_ += share.bitwise ? 1 : 0;
    if (share.ambiguous < share.elements) {
      count(builder.made.graph, builder.made.graph.outputs[k]);
    }
  }
}

void Suite::count(const ir::Graph& graph, ValueId output) {
  ir::Graph alone = graph;
  alone.outputs = {output};
  const std::vector<bool> needed = needed_nodes(alone);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!needed[i]) continue;
    const auto id = static_cast<ValueId>(i);
    const std::span<const ValueId> operands = graph.operands(id);
    const std::size_t typed = ir::typed_operand(ir::info(graph.op(id)).rule);
    ++compared_[{graph.op_name(id), graph.dtype(operands.empty() ? id : operands[typed])}];
  }
}

std::size_t Suite::compared(std::string_view op, DType dtype) const {
  const auto found = compared_.find({op, dtype});
  return found == compared_.end() ? 0 : found->second;
}

void Suite::require(ir::OpKind kind, std::size_t least) const {
  for (const Op op : ops_of(kind)) require(ir::info(op).name, ir::info(op).dtypes, least);
}

void Suite::require(const ir::CallOp& op, std::size_t least) const {
  require(op.name, op.dtypes, least);
}

void Suite::require(std::string_view op, ir::DTypeSet dtypes, std::size_t least) const {
  for (const DType dtype : dtypes_in(dtypes)) {
    CHECK_MESSAGE(compared(op, dtype) >= least,
                  op << " of " << name_of(dtype) << " is not covered");
  }
}

ir::Target small_target() {
  ir::Target target = ir::parse_target("sm_90");
  target.multiprocessors = 4;
  return target;
}

ir::HostArray integers(DType dtype, const ir::Shape& shape, std::int64_t low, std::int64_t high,
                       std::uint64_t seed) {
  ir::Graph graph;
  const ir::ValueId from = graph.parameter(DType::i64, shape);
  ir::Attributes to;
  to.dtype = dtype;
  graph.outputs = {graph.add(ir::Op::cast, {from}, to)};
  ir::HostArray wide{{DType::i64, shape}, {}};
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> any(low, high - 1);
  const std::int64_t count = ir::element_count(shape).constant();
  wide.data.resize(static_cast<std::size_t>(count) * sizeof(std::int64_t));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = any(random);
    std::memcpy(wide.data.data() + static_cast<std::size_t>(i) * sizeof value, &value,
                sizeof value);
  }
  return ir::interpret(graph, {{wide}}).front();
}

std::vector<DType> dtypes_in(ir::DTypeSet set) {
  std::vector<DType> found;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((set & ir::set_of(dtype)) != 0) found.push_back(dtype);
  }
  return found;
}

std::vector<Op> ops_of(ir::OpKind kind) {
  std::vector<Op> found;
  for (int i = 0; i < ir::op_count; ++i) {
    if (ir::kind_of(static_cast<Op>(i)) == kind) found.push_back(static_cast<Op>(i));
  }
  return found;
}

}  // namespace heddle::test
