// Handlers of calls, on the CPU and for GPUs that need not be there.

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "passes/calls/gemm.h"
#include "passes/pipeline/program_builder.h"
#include "passes/plan/sort_call.h"
#include "runtime/calls/handlers.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

using Ref = passes::BufferRef;
using Launches = std::vector<passes::KernelStep>;

constexpr Device cpu{}, gpu{DeviceKind::cuda, 0};

/// Buffers that a test gives, by their input index.
class TestFrame final : public CallBuffers {
 public:
  TestFrame(const Stream& stream, std::vector<void*> buffers)
      : CallBuffers(stream), buffers_(std::move(buffers)) {}
  std::byte* address(const Ref& buffer) const override {
    return static_cast<std::byte*>(buffers_.at(buffer.index));
  }
  const ir::ElementBits& scalar(std::uint32_t) const override { return none_; }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    return runtime::allocate(bytes, stream(), label);
  }

 private:
  std::vector<void*> buffers_;
  ir::ElementBits none_;
};

passes::CallStep planned_sort(std::string_view shape, std::string_view target) {
  const std::string text = "func @f(%0: f32" + std::string(shape) + ") -> f32" +
                           std::string(shape) + " {\n  %1 = call sort %0 {axis = 1} : f32" +
                           std::string(shape) + "\n  return %1\n}\n";
  passes::PlannedProgram planned =
      passes::plan_program(ir::parse(text), {ir::parse_target(target), {}, {}, {}});
  return *planned.program.steps.at(0).call();
}

CallWork prepare(const passes::CallStep& call, Device device,
                 const ir::SymbolBindings& bindings = {}) {
  return call_handler(call.handler, device.kind).prepare(call, {{}, bindings, device});
}

}  // namespace

TEST_CASE("a call that no handler runs is an InternalError that says which, and where") {
  CHECK_THROWS_WITH_AS(call_handler("hankel", DeviceKind::cpu),
                       "no handler runs the call 'hankel' on the CPU", InternalError);
  CHECK_THROWS_WITH_AS(call_handler("hankel", DeviceKind::cuda),
                       "no handler runs the call 'hankel' on a GPU", InternalError);
}

TEST_CASE("a sort on a GPU comes to launches for the sizes at hand, none of no elements") {
  const passes::CallStep call = planned_sort("[m,n]", "sm_90:h200");
  const auto launches = [&](std::int64_t m, std::int64_t n) {
    const ir::SymbolBindings bindings = {{ir::intern_symbol("m"), m}, {ir::intern_symbol("n"), n}};
    return std::get<Launches>(prepare(call, gpu, bindings)).size();
  };
  CHECK(launches(1000, 5) == 1);
  CHECK(launches(3, 20000) == 4);
  CHECK(launches(0, 5) == 0);
}

TEST_CASE("a sort on the CPU sorts rows") {
  std::vector<float> keys = {3, 1, 2, 9, 8, 7}, out(6), scratch(6);
  const Stream stream = Stream::current(cpu);
  passes::CallStep placed = planned_sort("[2,3]", "x86-64-v3");
  placed.operands[0].buffer = {Ref::Kind::input, 0};
  placed.results[0].buffer = {Ref::Kind::input, 1};
  placed.scratch[0] = {Ref::Kind::input, 2};
  const CallWork sort = prepare(placed, cpu);
  const auto& prepared = std::get<std::unique_ptr<const PreparedCall>>(sort);
  CHECK(prepared->enqueue(TestFrame(stream, {keys.data(), out.data(), scratch.data()})) ==
        PreparedCall::Outcome::enqueued);
  CHECK(out == std::vector<float>{1, 2, 3, 7, 8, 9});
  CHECK(prepared->operands({"f32[2,3]"}) == "f32[2,3]");
}

TEST_CASE("a product of no elements comes to nothing, and profiles show a product's factors") {
  const ir::Dim n = ir::Dim::symbol("n");
  passes::GemmCall product;
  product.rows = n, product.columns = 4, product.depth = 3, product.batch = 2;
  product.a_leading = 3, product.b_leading = 4;
  const passes::CallStep call = to_call(product);
  const auto with_rows = [&](std::int64_t rows) {
    return prepare(call, cpu, {{ir::intern_symbol("n"), rows}});
  };
  const CallWork none = with_rows(0), some = with_rows(5);
  REQUIRE(std::holds_alternative<Launches>(none));
  CHECK(std::get<Launches>(none).empty());
  const auto& prepared = std::get<std::unique_ptr<const PreparedCall>>(some);
  CHECK(prepared->operands({"f32[2,5,3]", "48 bytes", "f32[5,4]"}) ==
        "f32[2,5,3] x f32[2,3,4], f32[5,4]");
}
