#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;

namespace {

struct State {
  hd::Array x, v;
  int steps = 0;
};
HEDDLE_STRUCT(State, x, v, steps)

struct Model {
  std::vector<State> layers;
  std::map<std::string, hd::Array> extra;
};
HEDDLE_STRUCT(Model, layers, extra)

std::uint64_t traces() { return hd::statistics().traces; }

}  // namespace

TEST_CASE("a function is traced once a signature") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) { return x * y + 1.0f; });
  const hd::Array x = hd::array({1.0f, 2.0f});
  const std::uint64_t before = traces();
  check<float>(f(x, x), {2}, {2, 5});
  const hd::Array y = x + 1;
  check<float>(f(y, x), {2}, {3, 7});
  CHECK(traces() == before + 1);
  f(x.astype(hd::float64), x);
  CHECK(traces() == before + 2);
  f(hd::ones<float>({3}), hd::ones<float>({3}));
  CHECK(traces() == before + 3);
}

TEST_CASE("a call launches at once") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::sin(x) * 2; });
  const hd::Array x = hd::ones<float>({7});
  const std::uint64_t before = hd::statistics().evaluations;
  const hd::Array y = f(x);
  CHECK(hd::statistics().evaluations == before + 2);  // x, then the function
  CHECK(y(0).item<float>() == doctest::Approx(2 * std::sin(1.0f)));
}

TEST_CASE("floating scalars for arrays are arguments, integers are static") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& rate, int axis) {
    return hd::sum(x * rate * 2.0, axis);
  });
  const hd::Array x = hd::ones<float>({2, 3});
  const std::uint64_t before = traces();
  check<float>(f(x, 0.5, 0), {3}, {2, 2, 2});
  check<float>(f(x, 1.5, 0), {3}, {6, 6, 6});
  CHECK(traces() == before + 1);
  check<float>(f(x, 1.5, 1), {2}, {9, 9});
  CHECK(traces() == before + 2);
  CHECK(contains(f.ir(x, 0.5, 0), "scalar"));
}

TEST_CASE("plain double parameters are static") {
  const auto f = hd::jit([](const hd::Array& x, double s) { return x * s; });
  const hd::Array x = hd::ones<float>({2});
  check<float>(f(x, 2.0), {2}, {2, 2});
  check<float>(f(x, 3.0), {2}, {3, 3});
}

TEST_CASE("structs, tuples and containers pass in and out") {
  const auto step = hd::jit([](State state, const hd::Array& dt) {
    state.x = state.x + state.v * dt;
    state.steps += 1;
    return state;
  });
  State state{hd::array({0.0f, 1.0f}), hd::array({1.0f, 1.0f}), 0};
  state = step(state, 0.5);
  state = step(state, 0.5);
  check<float>(state.x, {2}, {1, 2});
  CHECK(state.steps == 2);

  const auto split = hd::jit([](const std::vector<hd::Array>& arrays) {
    hd::Array total = arrays[0];
    for (std::size_t i = 1; i < arrays.size(); ++i) total = total + arrays[i];
    return std::tuple(total, std::array{arrays[0], total * 2}, std::optional(arrays[1]));
  });
  const auto [total, both, last] = split(std::vector{hd::array({1, 2}), hd::array({3, 4})});
  check<int>(total, {2}, {4, 6});
  check<int>(both[1], {2}, {8, 12});
  check<int>(*last, {2}, {3, 4});

  const auto deep = hd::jit([](Model model) {
    for (State& layer : model.layers) layer.v = layer.v + model.extra.at("bias");
    return model;
  });
  Model model;
  model.layers.push_back({hd::array({1}), hd::array({2}), 3});
  model.extra["bias"] = hd::array({10});
  const Model result = deep(model);
  check<int>(result.layers.at(0).v, {1}, {12});
  CHECK(result.layers.at(0).steps == 3);
}

TEST_CASE("a returned argument is that argument") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& s) { return std::pair(x, s); });
  const hd::Array x = hd::array({1, 2});
  const auto [same, scalar] = f(x, 2.5);
  check<int>(same, {2}, {1, 2});
  CHECK(scalar.item<double>() == 2.5);
}

TEST_CASE("moved and donated arguments hold nothing afterwards") {
  const auto f = hd::jit([](const hd::Array& x) { return x + 1; });
  hd::Array x = hd::array({1.0f});
  x = f(std::move(x));
  check<float>(x, {1}, {2});
  const auto g = hd::jit([](const hd::Array& x) { return x + 1; }, {.donate = {0}});
  hd::Array y = hd::array({1.0f});
  const hd::Array z = g(y);
  CHECK_FALSE(y.has_value());
  check<float>(z, {1}, {2});
  hd::Array kept = hd::array({1.0f});
  const hd::Array other = kept;
  check<float>(f(std::move(kept)), {1}, {2});
  check<float>(other, {1}, {1});
}

TEST_CASE("a failing call gives moved arguments back") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) { return x + y; });
  hd::Array x = hd::array({1.0f, 2.0f});
  CHECK_THROWS_AS(f(std::move(x), hd::zeros<float>({3})), hd::ShapeError);
  check<float>(x, {2}, {1, 2});  // NOLINT(bugprone-use-after-move)
  check<float>(f(x, x), {2}, {2, 4});
  // Nor is one lost when a later argument cannot be read.
  const hd::Array nothing;
  CHECK_THROWS_AS(f(std::move(x), nothing), hd::ValueError);
  check<float>(x, {2}, {1, 2});  // NOLINT(bugprone-use-after-move)
  const auto both =
      hd::jit([](const hd::Array& a, const hd::Array& b) { return a + b; }, {.donate = {0, 1}});
  CHECK_THROWS_AS(both(x, x), hd::ValueError);
  check<float>(x, {2}, {1, 2});
}

TEST_CASE("asking for a value inside a trace throws and says what to do") {
  const auto bad = [](auto use) {
    const auto f = hd::jit([use](const hd::Array& x) {
      use(x);
      return x;
    });
    return message_of<hd::TraceError>([&] { f(hd::array({1.0f})); });
  };
  std::string text = bad([](const hd::Array& x) { return x.item<float>(); });
  CHECK(contains(text, "item"));
  CHECK(contains(text, "where"));
  CHECK(contains(text, line_mark(__LINE__ - 3)));
  CHECK(contains(bad([](const hd::Array& x) { return hd::to_string(x); }), "inside a jit trace"));
  CHECK(contains(bad([](const hd::Array& x) { return x(0) > 0 ? 1 : 2; }), "inside a jit trace"));
  CHECK(contains(bad([](const hd::Array& x) { return (x + 1).eval().ndim(); }), "eval"));
}

TEST_CASE("values of a trace do not leak, and captured arrays are not written") {
  hd::Array leaked;
  const auto f = hd::jit([&](const hd::Array& x) {
    leaked = x + 1;
    return x;
  });
  f(hd::array({1.0f}));
  CHECK_THROWS_AS(leaked + 1, hd::TraceError);
  CHECK_THROWS_AS(leaked.item<float>(), hd::TraceError);
  hd::Array state = hd::array({1.0f});
  const auto g = hd::jit([&](const hd::Array& x) {
    state = state + x;
    return x;
  });
  CHECK_THROWS_AS(g(hd::array({1.0f})), hd::TraceError);
  check<float>(state, {1}, {1});
}

TEST_CASE("a jitted function inside another is inlined") {
  const auto inner = hd::jit([](const hd::Array& x, const hd::Array& s) { return x * s; });
  const auto outer = hd::jit([&](const hd::Array& x) { return inner(inner(x, 2.0), x) + 1; });
  const std::uint64_t before = traces();
  check<float>(outer(hd::array({1.0f, 3.0f})), {2}, {3, 19});
  CHECK(traces() == before + 1);
}

TEST_CASE("specs lower without data, symbols included") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& b) {
    const hd::Array e = hd::exp(x - hd::max(x, -1, true)) + b;
    return e / hd::sum(e, -1, true);
  });
  const hd::Lowered lowered = f.lower({hd::spec<float>({"n", 64}), hd::spec<float>({64})});
  CHECK(contains(lowered.ir(), "f32[n,64]"));
  CHECK(lowered.input_count() == 2);
  CHECK(lowered.output_count() == 1);
  CHECK_THROWS_AS(f.lower({hd::spec<float>({"n", 64})}), hd::ValueError);
  const auto total = hd::jit([](const hd::Array& x, int axis) { return hd::mean(x, axis); });
  CHECK(contains(total.lower(hd::spec<float>({"n", "m"}), 0).ir(), "f32[m]"));
  CHECK_THROWS_AS(f.lower(hd::spec<float>({"n", 3}), hd::spec<float>({"m", 3})), hd::ShapeError);
}

TEST_CASE("a lowered function explains itself in each form, with the lines of its source") {
  const auto f = hd::jit(
      [](const hd::Array& x) {
        return hd::exp(x) * 2.0f;  // the line that is shown
      },
      {.name = "twice_exp"});
  const hd::Lowered lowered = f.lower({hd::spec<float>({"n", 64})});
  const std::string text = lowered.explain("sm_90");
  CHECK(text == lowered.explain("sm_90", hd::ExplainForm::text));
  CHECK(contains(text, "program twice_exp: 1 groups, 1 kernels"));
  const std::string json = lowered.explain("x86-64-v3", hd::ExplainForm::json);
  CHECK(contains(json, "// the line that is shown"));
  const std::string page = lowered.explain("x86-64-v3", hd::ExplainForm::html);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(contains(page, "// the line that is shown"));
  CHECK(lowered.explain("sm_90", hd::ExplainForm::dot).starts_with("digraph \"twice_exp\" {"));
  CHECK_THROWS_AS(lowered.explain("sm_42", hd::ExplainForm::json), hd::ValueError);
}

TEST_CASE("symbols are not numbers inside a trace") {
  const auto f = hd::jit([](const hd::Array& x) { return x.reshape(hd::Shape{x.shape(0), -1}); });
  CHECK(contains(message_of<hd::TraceError>([&] { f.lower({hd::spec<float>({"n", 64})}); }), "n"));
  CHECK(contains(f.lower({hd::spec<float>({2, 64})}).ir(), "f32[2,64]"));
  const auto flat = hd::jit([](const hd::Array& x) { return x.reshape({-1, 16})(hd::_, 0); });
  CHECK(contains(flat.lower({hd::spec<float>({"n", 64})}).ir(), "f32[4*n]"));
}

TEST_CASE("a dynamic extent compiles once for all sizes") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::sum(x * 2.0f, 1); },
                         {.dynamic = {{"n", hd::fixed}}});
  const std::uint64_t before = traces();
  for (std::int64_t n = 0; n < 1000; ++n) {
    const hd::Array y = f(hd::ones<float>({n, 3}));
    REQUIRE(y.shape() == hd::Shape{n});
    if (n % 97 == 1) REQUIRE(y(-1).item<float>() == 6);
  }
  CHECK(traces() == before + 1);
  f(hd::ones<float>({2, 4}));
  CHECK(traces() == before + 2);
  const auto g = hd::jit([](const hd::Array& x, const hd::Array& y) { return x + y; },
                         {.dynamic = {{"n"}, {"n"}}});
  check<float>(g(hd::ones<float>({2}), hd::ones<float>({2})), {2}, {2, 2});
  CHECK_THROWS_AS(g(hd::ones<float>({2}), hd::ones<float>({3})), hd::ShapeError);
}

TEST_CASE("what a dynamic extent decides is checked at the call, with the traced line") {
  const auto f =
      hd::jit([](const hd::Array& x) { return hd::max(x, 0); }, {.dynamic = {{"n", hd::fixed}}});
  const std::string line = "jit.cpp:" + std::to_string(__LINE__ - 1);
  check<float>(f(hd::ones<float>({4, 2})), {2}, {1, 1});
  const std::string text = message_of<hd::ValueError>([&] { f(hd::ones<float>({0, 2})); });
  CHECK(contains(text, "axis 0 has no elements"));
  CHECK(contains(text, "n=0"));
  CHECK(contains(text, line));
  check<float>(f(hd::ones<float>({3, 2})), {2}, {1, 1});
}

TEST_CASE("a size that an op has no meaning for names the op and the line") {
  const auto last =
      hd::jit([](const hd::Array& x) { return x(hd::slice(-2, {})) * 2.0f; }, {.dynamic = {{"n"}}});
  check<float>(last(hd::array({1.0f, 2.0f, 3.0f})), {2}, {4, 6});
  const std::string text = message_of<hd::IndexError>([&] { last(hd::array({1.0f})); });
  CHECK(contains(
      text,
      "slice(float32[n]): start n-2 step 1 extent 2 is out of bounds for axis 0 of extent n"));
  CHECK(contains(text, "n=1"));
  CHECK(contains(text, line_mark(__LINE__ - 7)));
  check<float>(last(hd::array({1.0f, 2.0f})), {2}, {2, 4});

  // The same program, recorded on another line.
  const auto again =
      hd::jit([](const hd::Array& x) { return x(hd::slice(-2, {})) * 2.0f; }, {.dynamic = {{"n"}}});
  CHECK(contains(message_of<hd::IndexError>([&] { again(hd::array({1.0f})); }),
                 line_mark(__LINE__ - 2)));

  const auto inner =
      hd::jit([](const hd::Array& x) { return x(hd::slice(2, -1)) + 1.0f; }, {.dynamic = {{"n"}}});
  check<float>(inner(hd::zeros<float>({4})), {1}, {1});
  check<float>(inner(hd::zeros<float>({3})), {0}, {});
  CHECK(contains(message_of<hd::ShapeError>([&] { inner(hd::zeros<float>({2})); }),
                 "negative extent n-3"));

  const auto write = hd::jit(
      [](hd::Array x) {
        x.at(hd::slice({}, 3)) = 7.0f;
        return x;
      },
      {.donate = {0}, .dynamic = {{"n"}}});
  hd::Array two = hd::zeros<float>({2});
  two.eval();
  CHECK_THROWS_AS(write(std::move(two)), hd::IndexError);
  check<float>(two, {2}, {0, 0});  // NOLINT(bugprone-use-after-move): taken only on success
  check<float>(write(hd::zeros<float>({4})), {4}, {7, 7, 7, 0});
}

TEST_CASE("literals inside a trace are constants") {
  const auto f = hd::jit([](const hd::Array& x) { return x * 2.5; });
  const std::string ir = f.ir(hd::array({1.0f}));
  CHECK(contains(ir, "2.5"));
  CHECK_FALSE(contains(ir, "scalar"));
}

TEST_CASE("an error inside a traced function names the line and leaves all usable") {
  const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) { return x + y; });
  const std::string text =
      message_of<hd::ShapeError>([&] { f(hd::zeros<float>({2}), hd::zeros<float>({3})); });
  CHECK(contains(text, "jit.cpp:" + std::to_string(__LINE__ - 3)));
  check<float>(f(hd::zeros<float>({2}), hd::zeros<float>({2})), {2}, {0, 0});
}
