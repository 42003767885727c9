#include <doctest/doctest.h>

#include "ir/types/op.h"

using namespace heddle::ir;

TEST_CASE("every op is found by its name and describes itself") {
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& row = info(op);
    CAPTURE(row.name);
    CHECK(row.op == op);
    CHECK(op_from_name(row.name) == op);
    CHECK(row.dtypes != 0);
    const bool follows_numpy = op != Op::parameter && op != Op::call && op != Op::result;
    CHECK(follows_numpy != row.numpy.empty());
    if (row.kind == OpKind::elementwise) {
      CHECK(row.arity >= 1);
      CHECK(row.cost >= 1);
      CHECK(row.ulp >= 0);
      if (row.has(exactly_rounded)) CHECK(row.ulp == 0);
      if (row.has(commutative)) CHECK(row.arity == 2);
    }
  }
  CHECK_FALSE(op_from_name("frobnicate").has_value());
  CHECK_FALSE(op_from_name("").has_value());
}

TEST_CASE("kinds of the ops that stand in no table") {
  CHECK(kind_of(Op::iota) == OpKind::source);
  CHECK(is_elementwise(Op::cast));
  CHECK(is_elementwise(Op::add));
  CHECK(is_view(Op::slice));
  CHECK(kind_of(Op::slice_update) == OpKind::piecewise);
  CHECK(is_reduction(Op::argmax));
  CHECK(is_scan(Op::cumsum));
  CHECK(kind_of(Op::call) == OpKind::call);
  CHECK(kind_of(Op::result) == OpKind::call);
}
