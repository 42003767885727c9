// Options of jit that name what is not there.

#include "values.h"

using namespace hd;

TEST_CASE("what cannot be switched off is an error that lists what can") {
  const auto f = [](const Array& x) { return exp(x); };
  for (const char* name : {"fusion", "", "epilogues"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(
        jit(f, {.name = "f", .disable = {"symbols", name}}),
        doctest::Contains("cannot be switched off; valid names are epilogue, in_place, "
                          "symbols, radix_sort, merge_sort, "),
        ValueError);
  }
  for (const char* name :
       {"epilogue", "in_place", "symbols", "radix_sort", "merge_sort", "simplify"})
    CHECK(jit(f, {.disable = {name}})(zeros({2})).to_vector<float>()[0] == 1);
}

TEST_CASE("a donated argument that is not there is an error that says how many there are") {
  const auto f = [](const Array& x, const Array& y) { return x + y; };
  CHECK_THROWS_WITH_AS(jit(f, {.donate = {0, -1}}),
                       doctest::Contains("-1 is not an argument position"), ValueError);
  const auto g = jit(f, {.name = "g", .donate = {0, 2}});
  CHECK_THROWS_WITH_AS(
      g(zeros({2}), zeros({2})),
      doctest::Contains("jit g: donate contains position 2, but the call has 2 arguments"),
      ValueError);
  CHECK_THROWS_AS(g.lower({spec<float>({2}), spec<float>({2})}), ValueError);
  CHECK(jit(f, {.donate = {0, 1}})(ones({2}), ones({2})).to_vector<float>()[0] == 2);
}
