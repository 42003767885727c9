#include <limits>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/types/shape.h"
#include "type_text.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

std::string broadcast(std::string_view a, std::string_view b) {
  return to_string(broadcast_shapes(shape_of(a), shape_of(b)));
}

std::string strides(std::string_view shape) {
  return to_string(Shape(contiguous_strides(shape_of(shape))));
}

}  // namespace

TEST_CASE("shapes broadcast as in NumPy, whichever stands first") {
  struct Case {
    const char *a, *b, *result;
  };
  for (const Case& c :
       {Case{"[]", "[]", "[]"}, Case{"[]", "[2,3]", "[2,3]"}, Case{"[3]", "[2,3]", "[2,3]"},
        Case{"[1]", "[2,3]", "[2,3]"}, Case{"[2,1]", "[1,3]", "[2,3]"},
        Case{"[4,1,3]", "[5,1]", "[4,5,3]"}, Case{"[0]", "[1]", "[0]"},
        Case{"[3,0]", "[1,1]", "[3,0]"}, Case{"[n,1]", "[m]", "[n,m]"}, Case{"[n]", "[n]", "[n]"},
        Case{"[2*n+1]", "[1]", "[2*n+1]"}}) {
    CHECK(broadcast(c.a, c.b) == c.result);
    CHECK(broadcast(c.b, c.a) == c.result);
  }
}

TEST_CASE("shapes that do not broadcast are named in the order given") {
  CHECK_THROWS_WITH_AS(broadcast("[3,4]", "[5]"),
                       "shapes [3,4] and [5] do not broadcast: axis -1 is 4 and 5; extents must be "
                       "equal or 1",
                       ShapeError);
  CHECK_THROWS_WITH_AS(broadcast("[2]", "[3,2,4]"),
                       "shapes [2] and [3,2,4] do not broadcast: axis -1 is 2 and 4; extents must "
                       "be equal or 1",
                       ShapeError);
  CHECK_THROWS_WITH_AS(broadcast("[3,1]", "[2,1]"),
                       "shapes [3,1] and [2,1] do not broadcast: axis -2 is 3 and 2; extents must "
                       "be equal or 1",
                       ShapeError);
  CHECK_THROWS_AS(broadcast("[0]", "[2]"), ShapeError);
  CHECK_THROWS_AS(broadcast("[n]", "[2]"), ShapeError);
  CHECK_THROWS_AS(broadcast("[n]", "[m]"), ShapeError);
  CHECK_THROWS_AS(broadcast("[n]", "[n+1]"), ShapeError);
}

TEST_CASE("element counts multiply, and overflow as in NumPy even beside a zero") {
  CHECK(element_count({}) == Dim(1));
  CHECK(element_count(shape_of("[2,3,4]")) == Dim(24));
  CHECK(element_count(shape_of("[2,0,4]")) == Dim(0));
  CHECK(element_count(shape_of("[n,64,n]")) == Dim::parse("64*n*n"));
  CHECK(element_count(shape_of("[n,0]")) == Dim(0));
  CHECK(element_count(shape_of("[4294967296,2147483647]")) == Dim(9223372032559808512));
  CHECK_THROWS_AS(element_count(shape_of("[4294967296,4294967296]")), ShapeError);
  CHECK_THROWS_AS(element_count(shape_of("[4294967296,4294967296,0]")), ShapeError);
}

TEST_CASE("contiguous strides are C's, zero extents counting as one") {
  CHECK(strides("[]") == "[]");
  CHECK(strides("[5]") == "[1]");
  CHECK(strides("[2,3,4]") == "[12,4,1]");
  CHECK(strides("[n,m,4]") == "[4*m,4,1]");
  CHECK(strides("[2,0,4]") == "[4,4,1]");
}

TEST_CASE("axes count from the end when negative") {
  CHECK(normalize_axis(0, 3) == 0);
  CHECK(normalize_axis(-1, 3) == 2);
  CHECK(normalize_axis(-3, 3) == 0);
  CHECK_THROWS_WITH_AS(normalize_axis(3, 3), "axis 3 is out of bounds for an array of 3 dimensions",
                       IndexError);
  CHECK_THROWS_AS(normalize_axis(-4, 3), IndexError);
  CHECK_THROWS_AS(normalize_axis(0, 0), IndexError);
  CHECK_THROWS_AS(normalize_axis(std::numeric_limits<std::int64_t>::min(), 1), IndexError);
}

TEST_CASE("constant shapes hold no symbol") {
  CHECK(is_constant(Shape{}));
  CHECK(is_constant(shape_of("[2,3]")));
  CHECK_FALSE(is_constant(shape_of("[2,n]")));
}
