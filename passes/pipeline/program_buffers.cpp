#include "passes/pipeline/program_buffers.h"

#include <algorithm>
#include <unordered_set>

#include "passes/calls/lowering.h"

namespace heddle::passes {

namespace {

/// The alignment of array `i`. `aligned` says which arrays are 16-byte aligned; those beyond its
/// end are.
int alignment_of(const ir::Type& type, const std::vector<bool>& aligned, std::size_t i) {
  const bool whole = i >= aligned.size() || aligned[i];
  return whole ? whole_access : static_cast<int>(size_of(type.dtype));
}

}  // namespace

ProgramBuffers::ProgramBuffers(PlannedProgram& planned, const PlanOptions& options)
    : planned_(planned), graph_(planned.graph), options_(options), program_(planned.program) {
  stored_.assign(graph_.size(), false);
  for (const Group& group : planned_.grouping.groups) {
    for (const ValueId value : group.stored) stored_[index_of(value)] = true;
  }
  declare_inputs();
  make_in_outputs();
  declare_outputs();
}

void ProgramBuffers::declare_inputs() {
  program_.name = graph_.name;
  program_.facts = graph_.facts;
  for (std::size_t i = 0; i < graph_.parameters().size(); ++i) {
    const ValueId parameter = graph_.parameters()[i];
    ProgramInput input{graph_.type(parameter), graph_.attributes(parameter).scalar};
    input.donated = i < options_.donated.size() && options_.donated[i];
    input.alignment = alignment_of(input.type, options_.aligned, i);
    program_.inputs.push_back(std::move(input));
  }
}

/// Whether the group only reshapes an array in memory.
bool ProgramBuffers::only_reshapes(const Group& group) const {
  return group.stored == std::vector{group.root} && !group.library && !group.in_place &&
         std::ranges::all_of(group.members,
                             [&](ValueId member) { return graph_.op(member) == ir::Op::reshape; });
}

/// A value of which an output is a reshape has that output's memory, unless others change it.
void ProgramBuffers::store_reshapes_where_made() {
  std::unordered_set<std::uint32_t> others;
  for (const ValueId output : graph_.outputs) others.insert(index_of(output));
  for (const Group& group : planned_.grouping.groups) {
    if (group.in_place) others.insert(index_of(graph_.operands(group.root)[0]));
  }
  for (const Group& group : planned_.grouping.groups) {
    if (!only_reshapes(group)) continue;
    const auto output = std::ranges::find(graph_.outputs, group.root);
    const ValueId made = strip_reshapes(graph_, group.root);
    if (output == graph_.outputs.end() || others.contains(index_of(made)) ||
        !stored_[index_of(made)])
      continue;
    const auto position = static_cast<std::uint32_t>(output - graph_.outputs.begin());
    buffers_.try_emplace(index_of(made), BufferRef{BufferRef::Kind::output, position});
  }
}

void ProgramBuffers::make_in_outputs() {
  // An array that is updated in place until it is an output has that output's memory.
  std::unordered_map<std::uint32_t, ValueId> bases;
  for (const Group& group : planned_.grouping.groups) {
    if (group.in_place) bases.emplace(index_of(group.root), graph_.operands(group.root)[0]);
  }
  for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
    ValueId value = graph_.outputs[i];
    for (auto base = bases.find(index_of(value)); base != bases.end();
         base = bases.find(index_of(value)))
      value = base->second;
    if (graph_.op(value) != ir::Op::parameter)
      buffers_.try_emplace(index_of(value), BufferRef{BufferRef::Kind::output, i});
  }
  // An in-place update uses the memory of its base. In reverse order, bases come first.
  for (std::size_t i = planned_.grouping.groups.size(); i-- > 0;) {
    const Group& group = planned_.grouping.groups[i];
    if (group.in_place) buffers_[index_of(group.root)] = of(graph_.operands(group.root)[0]);
  }
  store_reshapes_where_made();
}

void ProgramBuffers::declare_outputs() {
  std::unordered_map<std::uint32_t, std::uint32_t> first;
  for (const ValueId output : graph_.outputs) {
    const auto position = static_cast<std::uint32_t>(program_.outputs.size());
    ProgramOutput declared;
    declared.type = graph_.type(output);
    declared.alignment = alignment_of(declared.type, options_.aligned_outputs, position);
    const auto [earlier, is_new] = first.emplace(index_of(output), position);
    if (const auto input = input_of(output)) {
      declared.input = input;
    } else if (!is_new) {
      declared.output = earlier->second;
    } else {
      buffers_[index_of(output)] = {BufferRef::Kind::output, position};
    }
    program_.outputs.push_back(std::move(declared));
  }
}

std::optional<BufferRef> ProgramBuffers::known(ValueId value) const {
  // A scalar input is not in memory; its buffer, if any, is the output that it is stored to.
  if (graph_.op(value) == ir::Op::parameter && !graph_.attributes(value).scalar)
    return BufferRef{BufferRef::Kind::input, graph_.attributes(value).index};
  const auto found = buffers_.find(index_of(value));
  if (found == buffers_.end()) return std::nullopt;
  return found->second;
}

// The input whose memory the value is in.
std::optional<std::uint32_t> ProgramBuffers::input_of(ValueId value) const {
  const std::optional<BufferRef> buffer = known(value);
  if (!buffer || buffer->kind != BufferRef::Kind::input) return std::nullopt;
  return buffer->index;
}

bool ProgramBuffers::is_aligned(const BufferRef& buffer) const {
  if (buffer.kind == BufferRef::Kind::input)
    return program_.inputs[buffer.index].alignment >= whole_access;
  return buffer.kind != BufferRef::Kind::output ||
         program_.outputs[buffer.index].alignment >= whole_access;
}

BufferRef ProgramBuffers::new_temporary(Dim bytes) {
  program_.temporaries.push_back({bytes, 0, 0});
  return {BufferRef::Kind::temporary, static_cast<std::uint32_t>(program_.temporaries.size()) - 1};
}

BufferRef ProgramBuffers::of(ValueId value) {
  if (const std::optional<BufferRef> decided = known(value)) return *decided;
  return buffers_[index_of(value)] = new_temporary(byte_count(graph_.type(value)));
}

bool ProgramBuffers::reshapes_in_place(const Group& group) {
  const ValueId made = strip_reshapes(graph_, group.root);
  return only_reshapes(group) && is_stored(made) && of(group.root) == of(made);
}

BufferRef ProgramBuffers::store_in_fallback(ValueId value) {
  stored_[index_of(value)] = true;
  return buffers_[index_of(value)] = {BufferRef::Kind::fallback, 0};
}

void set_lifetimes(Program& program) {
  for (Temporary& temporary : program.temporaries) temporary = {temporary.bytes, ~0u, 0};
  std::uint32_t first = 0, last = 0;  // of the launch
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    const KernelStep* const kernel = program.steps[i].kernel();
    const std::uint32_t together = kernel != nullptr ? kernel->together : 1;
    if (together > 0) {
      first = i;
      last = i + together - 1;
    }
    for (const BufferUse& use : uses_of(program.steps[i])) {
      if (use.buffer.kind != BufferRef::Kind::temporary) continue;
      Temporary& temporary = program.temporaries[use.buffer.index];
      temporary.first_step = std::min(temporary.first_step, first);
      temporary.last_step = std::max(temporary.last_step, last);
    }
  }
}

}  // namespace heddle::passes
