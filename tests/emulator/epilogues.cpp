#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/target.h"
#include "runtime/report/report.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

// What follows a product, as one step of the library and without it, against NumPy. Whether a plan
// means what the graph says is algebra, and wants no library.

namespace heddle::emulator {
namespace {

struct Case {
  std::string name;
  std::string parameters;  ///< "%0: f32[n,k], %1: f32[k,m]"
  std::string result;      ///< "f32[n,m]"
  std::string body;        ///< lines up to the result, which is %r
  std::string step;        ///< of the library, in explain's words; "": nothing is absorbed
  std::vector<std::vector<ir::Shape>> inputs;
  runtime::CompileOptions options = {};
  std::string reason = {};  ///< in explain's words, why not
};

const std::string square = "%0: f32[n,n], %1: f32[n,n]";
const std::string oblong = "%0: f32[n,k], %1: f32[k,m]";
const std::string p = "%p = call matmul %0, %1 : f32[n,n]\n";
const std::string q = "%q = call matmul %0, %1 : f32[n,m]\n";
const std::vector<std::vector<ir::Shape>> squares = {{{5, 5}, {5, 5}, {5}},
                                                     {{33, 33}, {33, 33}, {33}}};
const std::vector<std::vector<ir::Shape>> oblongs = {
    {{5, 7}, {7, 3}, {3}}, {{33, 2}, {2, 17}, {17}}, {{1, 4}, {4, 1}, {1}}};

std::string gelu(const std::string& x) {
  return "%c3 = constant 0.044715 : f32[]\n%c1 = constant 0.7978845608 : f32[]\n"
         "%one = constant 1 : f32[]\n%half = constant 0.5 : f32[]\n"
         "%x2 = multiply " +
         x + ", " + x + " : f32[n,m]\n%x3 = multiply %x2, " + x +
         " : f32[n,m]\n%cx = multiply %c3, %x3 : f32[n,m]\n%in = add " + x +
         ", %cx : f32[n,m]\n%u = multiply %c1, %in : f32[n,m]\n%t = tanh %u : f32[n,m]\n"
         "%t1 = add %t, %one : f32[n,m]\n%h = multiply %half, " +
         x + " : f32[n,m]\n%r = multiply %h, %t1 : f32[n,m]\n";
}

/// The same as x * (0.5 + tanh(c1 * x * (1 + c3 * x**2)) / 2).
std::string gelu_otherwise() {
  return "%c3 = constant 0.044715 : f32[]\n%c1 = constant 0.7978845608 : f32[]\n"
         "%one = constant 1 : f32[]\n%half = constant 0.5 : f32[]\n%two = constant 2 : f32[]\n"
         "%x2 = square %q : f32[n,m]\n%y = multiply %x2, %c3 : f32[n,m]\n"
         "%y1 = add %one, %y : f32[n,m]\n%y2 = multiply %q, %y1 : f32[n,m]\n"
         "%u = multiply %y2, %c1 : f32[n,m]\n%t = tanh %u : f32[n,m]\n"
         "%t2 = divide %t, %two : f32[n,m]\n%t3 = add %half, %t2 : f32[n,m]\n"
         "%r = multiply %t3, %q : f32[n,m]\n";
}

std::vector<Case> cases() {
  const runtime::CompileOptions approximate{.approximate = true}, strict{.strict = true};
  const std::string bias = oblong + ", %2: f32[m]",
                    relu = "%zero = constant 0 : f32[]\n%r = maximum %s, %zero : f32[n,m]\n";
  const std::string tf32 = "%q = call matmul %0, %1 {precision = \"tf32\"} : f32[n,m]\n";
  return {
      {"a bias along the columns", bias, "f32[n,m]", q + "%r = add %q, %2 : f32[n,m]\n",
       "matmul + bias", oblongs},
      {"the same, the other way round", bias, "f32[n,m]", q + "%r = add %2, %q : f32[n,m]\n",
       "matmul + bias", oblongs},
      {"a bias of shape (1, m)",
       oblong + ", %2: f32[1,m]",
       "f32[n,m]",
       q + "%r = add %q, %2 : f32[n,m]\n",
       "matmul + bias",
       {{{5, 7}, {7, 3}, {1, 3}}, {{1, 2}, {2, 1}, {1, 1}}}},
      {"a bias that is broadcast before", bias, "f32[n,m]",
       q + "%b = reshape %2 : f32[1,m]\n%c = broadcast_to %b : f32[n,m]\n"
           "%r = add %q, %c : f32[n,m]\n",
       "matmul + bias", oblongs},
      {"a bias that is computed", bias, "f32[n,m]",
       q + "%b = exp %2 : f32[m]\n%r = add %q, %b : f32[n,m]\n", "matmul + bias", oblongs},
      {"a bias of shape (n, 1)",
       oblong + ", %2: f32[n,1]",
       "f32[n,m]",
       q + "%r = add %q, %2 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {5, 1}}},
       {},
       "neither a vector along the product's columns nor of the product's shape"},
      {"a bias of shape (1,)",
       oblong + ", %2: f32[1]",
       "f32[n,m]",
       q + "%r = add %q, %2 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {1}}}},
      {"a 0-d bias",
       oblong + ", %2: f32[]",
       "f32[n,m]",
       q + "%r = add %q, %2 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {}}}},
      {"a row of a square matrix", square + ", %2: f32[n]", "f32[n,n]",
       p + "%r = add %p, %2 : f32[n,n]\n", "matmul + bias", squares},
      {"a column of a square matrix", square + ", %2: f32[n]", "f32[n,n]",
       p + "%b = reshape %2 : f32[n,1]\n%r = add %p, %b : f32[n,n]\n", "", squares},
      {"a column of a square matrix, broadcast before",
       square + ", %2: f32[n]",
       "f32[n,n]",
       p + "%b = reshape %2 : f32[n,1]\n%c = broadcast_to %b : f32[n,n]\n"
           "%r = add %p, %c : f32[n,n]\n",
       "",
       squares,
       {},
       "would need a step of its own"},
      {"a square product, transposed and then biased",
       square + ", %2: f32[n]",
       "f32[n,n]",
       p + "%t = transpose %p axes=[1,0] : f32[n,n]\n%r = add %t, %2 : f32[n,n]\n",
       "",
       squares,
       {},
       "transpose is not supported in an epilogue"},
      {"alpha * (A @ B + b)",
       bias + ", %3: scalar f32",
       "f32[n,m]",
       q + "%s = add %q, %2 : f32[n,m]\n%r = multiply %s, %3 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {3}, {}}},
       {},
       "add is not supported in an epilogue"},
      {"alpha * (A @ B) + b",
       bias + ", %3: scalar f32",
       "f32[n,m]",
       q + "%s = multiply %q, %3 : f32[n,m]\n%r = add %s, %2 : f32[n,m]\n",
       "matmul + scale + bias",
       {{{5, 7}, {7, 3}, {3}, {}}}},
      {"A @ B * alpha + beta * C",
       oblong + ", %2: f32[n,m], %3: scalar f32, %4: scalar f32",
       "f32[n,m]",
       q + "%s = multiply %q, %3 : f32[n,m]\n%t = multiply %4, %2 : f32[n,m]\n"
           "%r = add %s, %t : f32[n,m]\n",
       "matmul + scale + scaled residual",
       {{{5, 7}, {7, 3}, {5, 3}, {}, {}}}},
      {"C - A @ B",
       oblong + ", %2: f32[n,m]",
       "f32[n,m]",
       q + "%r = subtract %2, %q : f32[n,m]\n",
       "matmul + scale + residual",
       {{{5, 7}, {7, 3}, {5, 3}}}},
      {"A @ B - 3 * C",
       oblong + ", %2: f32[n,m]",
       "f32[n,m]",
       q + "%c = constant 3 : f32[]\n%s = multiply %2, %c : f32[n,m]\n"
           "%r = subtract %q, %s : f32[n,m]\n",
       "matmul + scaled residual",
       {{{5, 7}, {7, 3}, {5, 3}}}},
      {"residual, then bias",
       bias + ", %3: f32[n,m]",
       "f32[n,m]",
       q + "%s = add %3, %q : f32[n,m]\n%r = add %s, %2 : f32[n,m]\n",
       "matmul + residual + bias",
       {{{5, 7}, {7, 3}, {3}, {5, 3}}}},
      {"bias, then residual",
       bias + ", %3: f32[n,m]",
       "f32[n,m]",
       q + "%s = add %2, %q : f32[n,m]\n%r = add %s, %3 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {3}, {5, 3}}},
       {},
       "add is not supported in an epilogue"},
      {"half of it",
       oblong,
       "f32[n,m]",
       q + "%c = constant -8 : f32[]\n%r = divide %q, %c : f32[n,m]\n",
       "matmul + scale",
       {{{5, 7}, {7, 3}}}},
      {"a third of it",
       oblong,
       "f32[n,m]",
       q + "%c = constant 3 : f32[]\n%r = divide %q, %c : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}}},
      {"0 times it",
       oblong,
       "f32[n,m]",
       q + "%c = constant 0 : f32[]\n%r = multiply %q, %c : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}}},
      {"sqrt(A @ B)",
       oblong,
       "f32[n,m]",
       q + "%r = sqrt %q : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}},
       {},
       "sqrt is not supported in an epilogue"},
      {"P + P",
       oblong,
       "f32[n,m]",
       q + "%r = add %q, %q : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}},
       {},
       "an intermediate value of the epilogue"},
      {"P + tanh(P)",
       oblong,
       "f32[n,m]",
       q + "%t = tanh %q : f32[n,m]\n%r = add %q, %t : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}}},
      {"A @ B + C @ D",
       oblong + ", %2: f32[n,l], %3: f32[l,m]",
       "f32[n,m]",
       q + "%s = call matmul %2, %3 : f32[n,m]\n%r = add %q, %s : f32[n,m]\n",
       "matmul + residual",
       {{{5, 7}, {7, 3}, {5, 2}, {2, 3}}}},
      {"relu(A @ B + b), where a NaN may be lost", bias, "f32[n,m]",
       q + "%s = add %q, %2 : f32[n,m]\n" + relu, "matmul + bias + relu", oblongs, approximate},
      {"relu(A @ B + b)",
       bias,
       "f32[n,m]",
       q + "%s = add %q, %2 : f32[n,m]\n" + relu,
       "",
       oblongs,
       {},
       "may return 0 for NaN"},
      {"gelu(A @ B + b), approximate", bias, "f32[n,m]",
       q + "%s = add %q, %2 : f32[n,m]\n" + gelu("%s"), "matmul + bias + gelu", oblongs,
       approximate},
      {"gelu of a product in tf32",
       oblong,
       "f32[n,m]",
       tf32 + gelu("%q"),
       "matmul + gelu",
       {{{5, 7}, {7, 3}}}},
      {"gelu, spelled otherwise",
       oblong,
       "f32[n,m]",
       q + gelu_otherwise(),
       "matmul + gelu",
       {{{5, 7}, {7, 3}}},
       approximate},
      {"gelu by itself",
       oblong,
       "f32[n,m]",
       q + gelu("%q"),
       "",
       {{{5, 7}, {7, 3}}},
       {},
       "approximates tanh"},
      {"tanh of another polynomial",
       oblong,
       "f32[n,m]",
       q + "%c = constant 0.8 : f32[]\n%one = constant 1 : f32[]\n%half = constant 0.5 : f32[]\n"
           "%u = multiply %c, %q : f32[n,m]\n%t = tanh %u : f32[n,m]\n"
           "%t1 = add %t, %one : f32[n,m]\n%h = multiply %half, %q : f32[n,m]\n"
           "%r = multiply %h, %t1 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}},
       approximate},
      {"gelu with erf",
       oblong,
       "f32[n,m]",
       q + "%c = constant 0.70710678 : f32[]\n%one = constant 1 : f32[]\n"
           "%half = constant 0.5 : f32[]\n%u = multiply %c, %q : f32[n,m]\n"
           "%t = erf %u : f32[n,m]\n%t1 = add %t, %one : f32[n,m]\n"
           "%h = multiply %half, %q : f32[n,m]\n%r = multiply %h, %t1 : f32[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}},
       approximate},
      {"a bias, strictly", bias, "f32[n,m]", q + "%r = add %q, %2 : f32[n,m]\n", "", oblongs,
       strict, "strict mode: every op rounds separately"},
      {"batches with one bias",
       "%0: f32[b,n,k], %1: f32[b,k,m], %2: f32[m]",
       "f32[b,n,m]",
       "%q = call matmul %0, %1 : f32[b,n,m]\n%r = add %q, %2 : f32[b,n,m]\n",
       "matmul + bias",
       {{{4, 5, 7}, {4, 7, 3}, {3}}, {{1, 5, 7}, {1, 7, 3}, {3}}}},
      {"batches times one matrix, and a bias",
       "%0: f32[b,n,k], %1: f32[k,m], %2: f32[m]",
       "f32[b,n,m]",
       "%q = call matmul %0, %1 : f32[b,n,m]\n%r = add %q, %2 : f32[b,n,m]\n",
       "matmul + bias",
       {{{4, 5, 7}, {7, 3}, {3}}}},
      {"a bias for each of the batch",
       "%0: f32[b,n,k], %1: f32[b,k,m], %2: f32[b,1,m]",
       "f32[b,n,m]",
       "%q = call matmul %0, %1 : f32[b,n,m]\n%r = add %q, %2 : f32[b,n,m]\n",
       "",
       {{{4, 5, 7}, {4, 7, 3}, {4, 1, 3}}}},
      {"transposed operands",
       "%0: f32[k,n], %1: f32[m,k], %2: f32[m]",
       "f32[n,m]",
       "%a = transpose %0 axes=[1,0] : f32[n,k]\n%b = transpose %1 axes=[1,0] : f32[k,m]\n"
       "%q = call matmul %a, %b : f32[n,m]\n%r = add %q, %2 : f32[n,m]\n",
       "matmul + bias",
       {{{7, 5}, {3, 7}, {3}}}},
      {"a product of reshaped axes",
       "%0: f32[b,n,k], %1: f32[k,m], %2: f32[m]",
       "f32[b,n,m]",
       "%a = reshape %0 : f32[b*n,k]\n%q = call matmul %a, %1 : f32[b*n,m]\n"
       "%c = reshape %q : f32[b,n,m]\n%r = add %c, %2 : f32[b,n,m]\n",
       "matmul + bias",
       {{{4, 5, 7}, {7, 3}, {3}}}},
      {"a matrix times a vector, and a vector",
       "%0: f32[n,k], %1: f32[k,1], %2: f32[n]",
       "f32[n]",
       "%q = call matmul %0, %1 : f32[n,1]\n%v = reshape %q : f32[n]\n%r = add %v, %2 : f32[n]\n",
       "",
       {{{5, 7}, {7, 1}, {5}}, {{1, 3}, {3, 1}, {1}}}},
      {"a product of vectors, and a number",
       "%0: f32[1,k], %1: f32[k,1], %2: f32[]",
       "f32[]",
       "%q = call matmul %0, %1 : f32[1,1]\n%s = reshape %q : f32[]\n%r = add %s, %2 : f32[]\n",
       "",
       {{{1, 7}, {7, 1}, {}}}},
      {"a product that is only reshaped",
       "%0: f32[n,k], %1: f32[k,1]",
       "f32[n]",
       "%q = call matmul %0, %1 : f32[n,1]\n%r = reshape %q : f32[n]\n",
       "",
       {{{5, 7}, {7, 1}}}},
      {"no elements, and no depth",
       bias,
       "f32[n,m]",
       q + "%r = add %q, %2 : f32[n,m]\n",
       "matmul + bias",
       {{{0, 7}, {7, 3}, {3}}, {{5, 7}, {7, 0}, {0}}, {{5, 0}, {0, 3}, {3}}}},
      {"halves that were widened",
       "%0: f16[n,k], %1: f16[k,m], %2: f32[m]",
       "f32[n,m]",
       "%a = cast %0 : f32[n,k]\n%b = cast %1 : f32[k,m]\n"
       "%q = call matmul %a, %b : f32[n,m]\n"
       "%r = add %q, %2 : f32[n,m]\n",
       "matmul + bias",
       {{{5, 7}, {7, 3}, {3}}}},
      {"halves that are widened and narrowed",
       "%0: bf16[n,k], %1: bf16[m,k], %2: bf16[m]",
       "bf16[n,m]",
       "%a = cast %0 : f32[n,k]\n%b = transpose %1 axes=[1,0] : bf16[k,m]\n"
       "%c = cast %b : f32[k,m]\n%q = call matmul %a, %c : f32[n,m]\n%d = cast %2 : f32[m]\n"
       "%s = add %q, %d : f32[n,m]\n%r = cast %s : bf16[n,m]\n",
       "matmul + bias",
       {{{5, 7}, {3, 7}, {3}}}},
      {"a product of f32 that is narrowed",
       oblong,
       "f16[n,m]",
       q + "%r = cast %q : f16[n,m]\n",
       "",
       {{{5, 7}, {7, 3}}},
       {},
       "do not have the dtype to which its result is cast"},
      {"half precision rounds before the bias",
       "%0: f16[n,k], %1: f16[k,m], %2: f16[m]",
       "f16[n,m]",
       "%q = call matmul %0, %1 : f16[n,m]\n%r = add %q, %2 : f16[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {3}}},
       {},
       "rounds after every op"},
      {"float64 has no bias",
       "%0: f64[n,k], %1: f64[k,m], %2: f64[m]",
       "f64[n,m]",
       "%q = call matmul %0, %1 : f64[n,m]\n%r = add %q, %2 : f64[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {3}}},
       {},
       "no bias for f64"},
      {"float64 has a residual",
       "%0: f64[n,k], %1: f64[k,m], %2: f64[n,m]",
       "f64[n,m]",
       "%q = call matmul %0, %1 : f64[n,m]\n%r = subtract %q, %2 : f64[n,m]\n",
       "matmul + scaled residual",
       {{{5, 7}, {7, 3}, {5, 3}}}},
      {"complex numbers",
       "%0: c64[n,k], %1: c64[k,m], %2: c64[n,m]",
       "c64[n,m]",
       "%q = call matmul %0, %1 : c64[n,m]\n%r = subtract %q, %2 : c64[n,m]\n",
       "",
       {{{5, 7}, {7, 3}, {5, 3}}}},
  };
}

std::string text_of(const Case& each) {
  return "func @f(" + each.parameters + ") -> " + each.result + " {\n" + each.body +
         "return %r\n}\n";
}

const ir::Target& target() {
  static const ir::Target parsed = ir::parse_target("sm_90:h200");
  return parsed;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("what follows a product means the same in one step and in two") {
  const std::vector<Case> all = cases();
  std::vector<ir::Graph> graphs;
  std::vector<runtime::PrintedProgram> printed;
  for (const Case& each : all) {
    CAPTURE(each.name);
    graphs.push_back(ir::parse(text_of(each)));
    printed.push_back(runtime::print_program(graphs.back(), each.options, target()));
    const std::string words = passes::to_text(
        runtime::report_program(graphs.back(), each.options, target(), runtime::Detail::plan));
    CAPTURE(words);
    CHECK(contains(words, " in one step\n") == !each.step.empty());
    if (!each.step.empty()) CHECK(contains(words, ": " + each.step + " in one step\n"));
    if (!each.reason.empty()) CHECK(contains(words, each.reason));
    const passes::Program& program = printed.back().program;
    CHECK(passes::to_json(passes::program_from_json(passes::to_json(program))) ==
          passes::to_json(program));
  }
  EmulatedPrograms programs(std::move(printed));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::vector<ir::Shape>& shapes : all[i].inputs) {
      std::vector<ir::HostArray> inputs;
      for (const ir::ValueId parameter : graphs[i].parameters()) {
        const std::size_t k = inputs.size();
        // A scalar, or what a shape list leaves out: the last parameters of some cases.
        const ir::Shape shape = k < shapes.size() ? shapes[k] : ir::Shape{};
        inputs.push_back(test::moderate_sample(graphs[i].dtype(parameter), shape, 100 * i + k));
      }
      const auto expected = test::Oracle::instance().ask(graphs[i], inputs);
      for (const bool refuse : {false, true}) {
        CAPTURE(all[i].name);
        CAPTURE(refuse);
        const auto actual =
            programs.run(i, inputs, {.shuffle_seed = i, .refuse_epilogues = refuse});
        const test::Comparison result = test::compare(actual, expected);
        CHECK_MESSAGE(result.equal, result.message);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::emulator
