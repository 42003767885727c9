#include <algorithm>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "tests/ir/random_graph.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

constexpr int program_count = 200;

/// A random graph planned for a target that changes with the seed.
PlannedProgram random_program(std::uint64_t seed) {
  const ir::Graph graph = random_graph(seed, 10 + static_cast<int>(seed % 40));
  PlanOptions options;
  options.target = ir::parse_target(seed % 2 == 0 ? cuda_target : host_target);
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    options.donated.push_back((seed >> i) % 3 == 0 &&
                              !graph.attributes(graph.parameters()[i]).scalar);
    options.aligned.push_back((seed + i) % 4 != 0);
  }
  return plan_program(graph, options);
}

/// A program that keeps many values of several sizes: products of matrices, and what joins them.
PlannedProgram program_of_products(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  static constexpr std::int64_t extents[] = {16, 40, 64, 150};
  ir::Graph graph;
  std::vector<ir::ValueId> values;
  for (const std::int64_t rows : extents) {
    for (const std::int64_t columns : extents)
      values.push_back(graph.parameter(DType::f32, {rows, columns}));
  }
  const auto any = [&] {
    return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 24)];
  };
  for (int i = 0; i < 40; ++i) {
    const ir::ValueId a = any(), b = any();
    if (graph.shape(a)[1] == graph.shape(b)[0])
      values.push_back(graph.call(ir::calls::matmul(), {a, b}));
    if (graph.shape(a) == graph.shape(b)) values.push_back(graph.add(ir::Op::add, {a, b}));
    if (random() % 4 == 0) values.push_back(graph.add(ir::Op::exp, {a}));
    if (random() % 4 == 0) {
      const auto axis = static_cast<std::int64_t>(random() % 2);
      values.push_back(graph.call(ir::calls::sort(), {a}, {{"axis", axis}}));
    }
  }
  graph.outputs = {values.back()};
  for (int i = 0; i < 3; ++i) graph.outputs.push_back(any());
  return plan_program(graph, {ir::parse_target(cuda_target), {}, {}, {}});
}

using Memory = std::pair<int, std::uint32_t>;
Memory key(const BufferRef& buffer) { return {static_cast<int>(buffer.kind), buffer.index}; }

void check_equal(const KernelStep& a, const KernelStep& b) {
  CHECK(a.kernel == b.kernel);
  CHECK(a.block[0] == b.block[0]);
  CHECK(a.block[1] == b.block[1]);
  CHECK(a.shared_bytes == b.shared_bytes);
  CHECK(a.host_grain == b.host_grain);
  REQUIRE(a.grid.size() == b.grid.size());
  for (std::size_t k = 0; k < a.grid.size(); ++k) {
    CHECK(a.grid[k].elements == b.grid[k].elements);
    CHECK(a.grid[k].per_block == b.grid[k].per_block);
    CHECK(a.grid[k].most == b.grid[k].most);
  }
  REQUIRE(a.parameters.size() == b.parameters.size());
  for (std::size_t k = 0; k < a.parameters.size(); ++k) {
    const Parameter &p = a.parameters[k], &q = b.parameters[k];
    CHECK(p.kind == q.kind);
    CHECK(p.buffer == q.buffer);
    CHECK(p.written == q.written);
    CHECK(p.value == q.value);
    CHECK(p.scalar == q.scalar);
    if (p.kind == Parameter::Kind::scalar) CHECK(p.dtype == q.dtype);
  }
}

void check_equal(const CallStep& a, const CallStep& b) {
  CHECK(a.handler == b.handler);
  CHECK(a.operands == b.operands);
  CHECK(a.results == b.results);
  CHECK(a.scratch == b.scratch);
  CHECK(a.values.all() == b.values.all());
  REQUIRE(a.kernels.size() == b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) check_equal(a.kernels[i], b.kernels[i]);
  CHECK(a.fallback.has_value() == b.fallback.has_value());
  CHECK(a.label == b.label);
  CHECK(a.flops == b.flops);
}

}  // namespace

TEST_CASE("steps run in an order in which everything is written before it is read") {
  for (std::uint64_t seed = 0; seed < program_count; ++seed) {
    CAPTURE(seed);
    const Program program = random_program(seed).program;
    std::set<Memory> written;
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      const std::vector<BufferUse> uses = uses_of(program.steps[i]);
      for (const auto& [buffer, is_written] : uses) {
        if (is_written || buffer.kind == BufferRef::Kind::input) continue;
        CHECK(written.count(key(buffer)) == 1);
      }
      for (const auto& [buffer, is_written] : uses) {
        if (is_written) written.insert(key(buffer));
        if (is_written && buffer.kind == BufferRef::Kind::input)
          CHECK(program.inputs[buffer.index].donated);
        if (buffer.kind != BufferRef::Kind::temporary) continue;
        CHECK(program.temporaries[buffer.index].first_step <= i);
        CHECK(i <= program.temporaries[buffer.index].last_step);
      }
    }
    for (std::uint32_t i = 0; i < program.outputs.size(); ++i) {
      const ProgramOutput& output = program.outputs[i];
      const auto is_empty = std::any_of(output.type.shape.begin(), output.type.shape.end(),
                                        [](ir::Dim extent) { return extent == ir::Dim(0); });
      if (output.input || output.output || is_empty) continue;
      CHECK(written.count({static_cast<int>(BufferRef::Kind::output), i}) == 1);
    }
  }
}

TEST_CASE("groups are convex: none waits for itself through others") {
  for (std::uint64_t seed = 0; seed < program_count; ++seed) {
    CAPTURE(seed);
    const PlannedProgram planned = random_program(seed);
    const ir::Graph& graph = planned.graph;
    std::vector<std::set<std::size_t>> storing(graph.size());
    for (std::size_t g = 0; g < planned.grouping.groups.size(); ++g) {
      for (const ir::ValueId value : planned.grouping.groups[g].stored)
        storing[index_of(value)].insert(g);
    }
    for (const auto& groups : storing) CHECK(groups.size() <= 1);
    // What a member reads from memory was stored by a group that runs earlier: of a higher number.
    for (std::size_t g = 0; g < planned.grouping.groups.size(); ++g) {
      const Group& group = planned.grouping.groups[g];
      const std::set<ir::ValueId> members(group.members.begin(), group.members.end());
      for (const ir::ValueId member : group.members) {
        for (const ir::ValueId operand : graph.operands(member)) {
          if (members.count(operand) != 0) continue;
          for (const std::size_t source : storing[index_of(operand)]) CHECK(source > g);
        }
      }
    }
  }
}

TEST_CASE("the arena is at most 1.1 times the largest live set") {
  int counted = 0;
  const auto check = [&](const Program& program) {
    ir::SymbolBindings bindings;
    for (const char* name : {"n", "m", "k"}) bindings.push_back({ir::intern_symbol(name), 640});
    std::vector<std::int64_t> sizes;
    for (const Temporary& temporary : program.temporaries)
      sizes.push_back(temporary.bytes.evaluate(bindings));
    std::int64_t largest = 0;
    for (std::uint32_t step = 0; step < program.steps.size(); ++step) {
      std::int64_t live = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Temporary& temporary = program.temporaries[i];
        if (temporary.first_step <= step && step <= temporary.last_step)
          live += (sizes[i] + 255) / 256 * 256;
      }
      largest = std::max(largest, live);
    }
    const std::int64_t bytes = plan_arena(program.temporaries, sizes).bytes;
    CHECK(static_cast<double>(bytes) <= 1.1 * static_cast<double>(largest));
    if (program.temporaries.size() > 2) ++counted;
  };
  for (std::uint64_t seed = 0; seed < program_count; ++seed) {
    CAPTURE(seed);
    check(random_program(seed).program);
    check(program_of_products(seed).program);
  }
  // Enough of the programs keep several values for this to say anything.
  CHECK(counted > program_count / 2);
}

TEST_CASE("what a launch has to check reads back, of nodes too that passes have removed") {
  const Program program = plan(R"(func @f(%0: f32[n], %1: f32[5]) -> f32[5] {
  %2 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %3 = slice_update %2, %1 starts=[0] steps=[1] shape=[5] : f32[5]
  return %3
})",
                               cuda_target)
                              .program;
  CHECK(program.steps.empty());
  const Program again = program_from_json(to_json(program));
  for (const Program& one : {program, again}) {
    REQUIRE(one.requirements.size() == 1);
    CHECK(one.requirements[0].value == ir::Dim::parse("n-5"));
    CHECK(one.requirements[0].unless_zero == ir::Dim(5));
    CHECK(one.requirements[0].breach == ir::Requirement::Breach::index);
    CHECK(one.requirements[0].text == program.requirements[0].text);
  }
}

TEST_CASE("programs read back from their text") {
  for (std::uint64_t seed = 0; seed < program_count; ++seed) {
    CAPTURE(seed);
    const Program program = random_program(seed).program;
    const std::string text = to_json(program);
    const Program again = program_from_json(text);
    CHECK(to_json(again) == text);
    CHECK(again.name == program.name);
    CHECK(again.facts == program.facts);
    REQUIRE(again.steps.size() == program.steps.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step &a = program.steps[i], &b = again.steps[i];
      REQUIRE(a.work.index() == b.work.index());
      if (a.kernel() != nullptr) check_equal(*a.kernel(), *b.kernel());
      if (a.call() != nullptr) check_equal(*a.call(), *b.call());
    }
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      CHECK(again.inputs[i].type == program.inputs[i].type);
      CHECK(again.inputs[i].donated == program.inputs[i].donated);
      CHECK(again.inputs[i].alignment == program.inputs[i].alignment);
    }
  }
}

TEST_CASE("text that is no program is a ParseError") {
  for (
      const char* text :
      {"", "{", "[]", "{}", R"({"name": "main"})", R"({"name": 1, "kernels": []})",
       R"({"name": "main", "kernels": [], "steps": [{"kernel": {}}]})",
       R"({"name": "main", "kernels": [], "inputs": [{"type": {"dtype": "f33", "shape": []}}]})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(program_from_json(text), ParseError);
  }
}
