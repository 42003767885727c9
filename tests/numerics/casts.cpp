#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::ValueId;

TEST_CASE("casts between all dtypes are NumPy's") {
  Suite suite;
  for (const DType from : dtypes_in(ir::all_dtypes)) {
    Builder all(fmt::format("casts of {}", name_of(from)));
    const ValueId line = all.input(sample(ir::Domain::any, 0, from, {1027}, 5), false);
    const ValueId plane = all.input(sample(ir::Domain::any, 0, from, {40, 24}, 6));
    const ValueId turned = all.transpose(plane, {1, 0});
    for (const DType to : dtypes_in(ir::all_dtypes)) {
      if (from == to) continue;
      all.output(all.cast(line, to));
      all.output(all.cast(turned, to));
      // A kernel of its own, in vectors as wide as the pair of dtypes allows.
      Builder one(fmt::format("cast of {} to {}", name_of(from), name_of(to)));
      one.made.options.strict = true;
      one.output(one.cast(one.input(sample(ir::Domain::any, 0, from, {2048}, 4)), to));
      suite.add(std::move(one));
    }
    suite.add(std::move(all));
  }
  suite.finish();
  // Three outputs for each dtype that it can be cast to.
  for (const DType from : dtypes_in(ir::all_dtypes)) CHECK(suite.compared(Op::cast, from) == 42);
}

}  // namespace
}  // namespace heddle::test
