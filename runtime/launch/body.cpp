#include "runtime/launch/body.h"

#include "heddle/error.h"

namespace heddle::runtime {

namespace {

std::size_t bytes_of(const ir::Type& type, const ir::SymbolBindings& bindings) {
  return static_cast<std::size_t>(ir::byte_count(type).evaluate(bindings));
}

}  // namespace

ScheduledBody::ScheduledBody(const passes::Program& program, const CallContext& outside)
    : program_(program) {
  const CallContext context{program.inputs, outside.bindings, outside.device};
  // Failures of handlers are noted by step of the whole program. A body has no number there: its
  // steps count as the first one.
  for (const passes::Step& step : program.steps) list_.add(step, 0, context);
  std::vector<std::int64_t> temporaries;
  for (const passes::Temporary& temporary : program.temporaries)
    temporaries.push_back(temporary.bytes.evaluate(outside.bindings));
  arena_ = passes::plan_arena(program.temporaries, temporaries);
  for (const passes::ProgramInput& input : program.inputs) {
    // The counter's extent argument has no elements, and the counter is no extent of the others.
    const bool is_empty = ir::byte_count(input.type) == ir::Dim(0);
    input_bytes_.push_back(is_empty ? 0 : bytes_of(input.type, outside.bindings));
  }
  for (const passes::ProgramOutput& output : program.outputs)
    output_bytes_.push_back(bytes_of(output.type, outside.bindings));
}

BodyRun::BodyRun(const ScheduledBody& body, const CallBuffers& outside, const Label& label)
    : CallBuffers(outside.stream()),
      body_(body),
      outside_(outside),
      inputs_(body.program().inputs.size()),
      outputs_(body.program().outputs.size()),
      arguments_(body.list()) {
  if (!body.program().temporaries.empty())
    arena_ = outside.allocate(static_cast<std::size_t>(body.arena().bytes), label);
}

void BodyRun::run() {
  arguments_.set(body_.list(), static_cast<const CallBuffers&>(*this));
  outside_.run(body_.list(), arguments_, *this);
}

bool has_memory(const ScheduledBody& body, std::size_t i) {
  const passes::ProgramOutput& output = body.program().outputs[i];
  return !output.input && !output.output;
}

std::byte* BodyRun::result(std::size_t i) const {
  const passes::ProgramOutput& output = body_.program().outputs[i];
  if (output.input) return inputs_[*output.input];
  return output.output ? result(*output.output) : outputs_[i];
}

std::byte* BodyRun::address(const passes::BufferRef& buffer) const {
  switch (buffer.kind) {
    case passes::BufferRef::Kind::input:
      return inputs_[buffer.index];
    case passes::BufferRef::Kind::output:
      return result(buffer.index);
    case passes::BufferRef::Kind::temporary:
      return static_cast<std::byte*>(arena_->pointer()) + body_.arena().offsets[buffer.index];
    case passes::BufferRef::Kind::fallback:
      break;
  }
  throw InternalError("memory of a fallback is used outside of its steps");
}

}  // namespace heddle::runtime
