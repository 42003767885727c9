#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "passes/calls/gemm.h"
#include "passes/plan/sort_call.h"
#include "passes/program/program.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

constexpr BufferRef input(std::uint32_t index) { return {BufferRef::Kind::input, index}; }
constexpr BufferRef temporary(std::uint32_t index) { return {BufferRef::Kind::temporary, index}; }

const Dim n = Dim::symbol("n");

GemmCall product() {
  GemmCall product;
  product.dtype = DType::f32;
  product.operand_dtype = DType::f16;
  product.precision = Precision::tf32;
  product.rows = n, product.columns = 5, product.depth = 7, product.batch = 3;
  product.a = input(0), product.b = input(1), product.out = temporary(0);
  product.a_leading = 7, product.b_leading = 9;
  product.b_transposed = true;
  product.a_batch_stride = n * 7, product.out_batch_stride = n * 5;
  product.alpha = {2, 3};
  product.activation = Activation::gelu;
  return product;
}

/// A call of an operation that nothing here knows.
CallStep cholesky() {
  CallStep call;
  call.handler = "cholesky";
  call.operands = {{input(0), DType::f64}};
  call.results = {{temporary(0), DType::f64}};
  call.scratch = {temporary(1)};
  call.values.set("lower", true);
  call.values.set("n", n);
  call.values.set("info", DType::i32);
  call.values.set("uplo", std::string("L"));
  call.values.set("scale", Factor{2, 1});
  call.kernels = {{.kernel = 0, .parameters = {}, .grid = {{n, 32}}}};
  call.aliases = {{0, 0}};
  KernelStep kernel{.kernel = 1, .parameters = {}, .grid = {}};
  kernel.parameters.resize(2);
  kernel.parameters[0].buffer = {BufferRef::Kind::fallback, 0};
  kernel.parameters[1].buffer = temporary(0);
  call.fallback = Fallback{{{kernel}, {FillStep{temporary(0), n * 8}}}, {n * 4}};
  call.operation = "cholesky";
  call.what = "n x n";
  call.label = "cholesky_f64";
  call.flops = n * n * n;
  return call;
}

std::string message_of(const auto& function) {
  try {
    function();
  } catch (const InternalError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a product is the same behind a call") {
  for (int terms = 0; terms < 4; ++terms) {
    CAPTURE(terms);
    GemmCall before = product();
    before.a_conjugated = (terms & 1) != 0;
    before.b_conjugated = (terms & 2) != 0;
    if ((terms & 1) != 0) before.residual = input(2);
    if ((terms & 2) != 0) before.bias = input(4);
    const CallStep call = to_call(before);
    const GemmCall after = gemm_of(call);
    CHECK(after.dtype == before.dtype);
    CHECK(after.operand_dtype == before.operand_dtype);
    CHECK(after.precision == before.precision);
    CHECK(after.rows == before.rows);
    CHECK(after.columns == before.columns);
    CHECK(after.depth == before.depth);
    CHECK(after.batch == before.batch);
    CHECK(after.a == before.a);
    CHECK(after.b == before.b);
    CHECK(after.out == before.out);
    CHECK(after.a_leading == before.a_leading);
    CHECK(after.b_leading == before.b_leading);
    CHECK(after.a_transposed == before.a_transposed);
    CHECK(after.b_transposed == before.b_transposed);
    CHECK(after.a_conjugated == before.a_conjugated);
    CHECK(after.b_conjugated == before.b_conjugated);
    CHECK(after.a_batch_stride == before.a_batch_stride);
    CHECK(after.b_batch_stride == before.b_batch_stride);
    CHECK(after.out_batch_stride == before.out_batch_stride);
    CHECK(after.alpha == before.alpha);
    CHECK(after.beta == before.beta);
    CHECK(after.residual == before.residual);
    CHECK(after.bias == before.bias);
    CHECK(after.activation == before.activation);
    CHECK(call.flops == n * (2 * 5 * 7 * 3));
    CHECK(call.what == "3 of n x 5 x 7");
    CHECK(call.label == "matmul_f32");
    REQUIRE(call.aliases.size() == (before.residual ? 1 : 0));
    if (before.residual) CHECK(call.operands[call.aliases[0].operand].buffer == *before.residual);
  }
}

TEST_CASE("a sort is the same behind a call") {
  SortCall before;
  before.dtype = DType::u16;
  before.indices = true;
  before.rows = n, before.length = 9000;
  before.keys = input(0), before.out = temporary(2);
  before.scratch = {temporary(0), temporary(1)};
  for (const bool on_device : {false, true}) {
    if (on_device)
      before.kernels =
          SortKernels{SortKernels::Method::radix, {{4, 1024, 512, 4096}, {5, 64, 384, 7680}}};
    const CallStep call = to_call(before);
    const SortCall after = sort_of(call);
    CHECK(after.dtype == before.dtype);
    CHECK(after.indices == before.indices);
    CHECK(after.rows == before.rows);
    CHECK(after.length == before.length);
    CHECK(after.keys == before.keys);
    CHECK(after.out == before.out);
    CHECK(after.scratch == before.scratch);
    CHECK(after.kernels == before.kernels);
    CHECK(call.kernels.size() == (on_device ? 2 : 0));
    CHECK(call.what == "argsort of n rows of 9000");
    CHECK(call.label == "argsort_u16");
  }
}

TEST_CASE("a call that lacks what its handler reads is an InternalError that names it") {
  CallStep call = cholesky();
  CHECK(call.values.flag("lower"));
  CHECK(call.values.factor("scale").scalar == 1);
  CHECK(message_of([&] { call.values.size("leading"); }).find("'leading'") != std::string::npos);
  CHECK(message_of([&] { call.values.size("lower"); }).find("'lower'") != std::string::npos);
  CHECK(message_of([&] { gemm_of(call); }).find("'cholesky'") != std::string::npos);
  CHECK(message_of([&] { sort_of(call); }).find("'cholesky'") != std::string::npos);
  CallStep other = to_call(product());
  other.values.set("activation", std::string("tanh"));
  CHECK(message_of([&] { gemm_of(other); }).find("'tanh'") != std::string::npos);
}

namespace {

/// A program of that call alone.
Program program_of_cholesky() {
  Program program;
  program.name = "f";
  program.kernel_names = {"a", "b"};
  program.inputs = {{{DType::f32, {n}}, false, false, 16}, {{DType::f64, {}}, true, false, 8}};
  program.outputs = {{{DType::f32, {n}}, {}, {}}};
  program.temporaries = {{n * 4, 0, 0}, {n * 4, 0, 0}, {n * 4, 0, 0}};
  program.steps = {{cholesky(), n * 16, {2, 3}}};
  return program;
}

}  // namespace

TEST_CASE("a program that names what it does not have is not read") {
  CHECK_NOTHROW(program_from_json(to_json(program_of_cholesky())));
  const auto message = [](const auto& damage) {
    Program program = program_of_cholesky();
    damage(program);
    try {
      program_from_json(to_json(program));
      return std::string("it is read");
    } catch (const ParseError& error) {
      return std::string(error.what());
    }
  };
  using Damage = void (*)(Program&);
  const std::pair<const char*, Damage> cases[] = {
      {"an array refers to an unknown array input", [](Program& p) { p.inputs.clear(); }},
      {"an array refers to an unknown array input", [](Program& p) { p.inputs[0].scalar = true; }},
      {"a scalar refers to an unknown scalar input",
       [](Program& p) { p.inputs[1].scalar = false; }},
      {"a buffer refers to an unknown temporary", [](Program& p) { p.temporaries.clear(); }},
      {"unknown kernel", [](Program& p) { p.kernel_names.pop_back(); }},
      {"a temporary refers to unknown steps", [](Program& p) { p.temporaries[0].last_step = 1; }},
      {"does not come before it", [](Program& p) { p.outputs[0].output = 0; }},
      {"an output refers to an unknown input", [](Program& p) { p.outputs[0].input = 2; }},
      {"alignment is not positive", [](Program& p) { p.inputs[0].alignment = 0; }},
      {"refers to an unknown operand or result",
       [](Program& p) { p.steps[0].call()->aliases = {{7, 0}}; }},
      {"a buffer refers to an unknown buffer of a fallback",
       [](Program& p) { p.steps[0].call()->fallback->buffers.clear(); }},
      {"a fallback has a fallback",
       [](Program& p) {
         CallStep& call = *p.steps[0].call();
         const Step inner{call, 0, {}};
         call.fallback->steps.push_back(inner);
       }},
  };
  for (const auto& [part, damage] : cases)
    CHECK_MESSAGE(message(damage).find(part) != std::string::npos, part, ": ", message(damage));
}

TEST_CASE("a call of any operation has its buffers, its kernels and its text") {
  const Program program = program_of_cholesky();
  const std::string text = to_json(program);
  const Program again = program_from_json(text);
  CHECK(to_json(again) == text);
  const Step& step = again.steps.at(0);
  REQUIRE(step.call() != nullptr);
  CHECK(step.kernel() == nullptr);
  CHECK(step.fill() == nullptr);
  CHECK(step.call()->values.all() == cholesky().values.all());
  const std::vector<BufferUse> uses = uses_of(step);
  REQUIRE(uses.size() == 3);
  CHECK((uses[0].buffer == input(0) && !uses[0].written));
  CHECK((uses[1].buffer == temporary(0) && uses[1].written));
  CHECK((uses[2].buffer == temporary(1) && uses[2].written));
  std::vector<std::uint32_t> kernels;
  for_each_kernel(step, [&](const KernelStep& kernel) { kernels.push_back(kernel.kernel); });
  CHECK(kernels == std::vector<std::uint32_t>{0, 1});
  std::size_t steps = 0, buffers = 0;
  for_each_step(step, [&](const Step& each) {
    ++steps;
    for_each_buffer(each, [&](const BufferRef&, bool) { ++buffers; });
  });
  CHECK(steps == 3);
  CHECK(buffers == 6);
}
