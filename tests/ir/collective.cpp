#include "ir/calls/collective.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

/// A graph of one collective on i64[2,3]; `attributes` are those of a call, as text.
std::string text_of(const std::string& attributes, const std::string& result) {
  return "func @f(%0: i64[2,3]) -> " + result +
         " {\n"
         "  %1, %2 = call distributed.collective %0 {" +
         attributes + "} : " + result +
         ", i64[]\n"
         "  return %1\n"
         "}\n";
}

std::string type_of(const std::string& kind, const std::string& size = "2") {
  for (const char* const result : {"i64[2,3]", "i64[3]", "i64[2,2,3]"}) {
    try {
      parse(text_of("kind = \"" + kind + "\", size = " + size, result));
      return result;
    } catch (const ParseError&) {
    }
  }
  return "none";
}

template <class E>
std::string failure(const std::string& text) {
  try {
    parse(text);
  } catch (const E& error) {
    return error.what();
  }
  return "no such error";
}

std::vector<std::int64_t> interpreted(const std::string& text, std::vector<std::int64_t> values,
                                      Shape shape) {
  HostArray operand{{DType::i64, std::move(shape)}, std::vector<std::byte>(8 * values.size())};
  std::memcpy(operand.data.data(), values.data(), operand.data.size());
  const HostArray result = interpret(parse(text), std::vector<HostArray>{operand})[0];
  std::vector<std::int64_t> found(result.data.size() / 8);
  std::memcpy(found.data(), result.data.data(), result.data.size());
  return found;
}

}  // namespace

TEST_CASE("collectives have the shapes of what they gather and scatter") {
  for (const char* const kind : {"all_reduce", "reduce", "broadcast", "all_to_all", "exchange"})
    CHECK_MESSAGE(type_of(kind) == "i64[2,3]", kind);
  for (const char* const kind : {"scatter", "reduce_scatter"})
    CHECK_MESSAGE(type_of(kind) == "i64[3]", kind);
  for (const char* const kind : {"all_gather", "gather"})
    CHECK_MESSAGE(type_of(kind) == "i64[2,2,3]", kind);
}

TEST_CASE("a collective prints and reads back, with its order") {
  const std::string text =
      "func @f(%0: f32[4]) -> (f32[4], f32[2,4], i64[]) {\n"
      "  %1, %2 = call distributed.collective %0 {kind = \"all_reduce\", communicator = \"world\", "
      "size = 2, reduction = \"max\", root = 0, to = -1, from = -1} : f32[4], i64[]\n"
      "  %3, %4 = call distributed.collective %0, %2 {kind = \"all_gather\", communicator = "
      "\"world\", size = 2, reduction = \"sum\", root = 0, to = -1, from = -1} : f32[2,4], i64[]\n"
      "  return %1, %3, %4\n"
      "}\n";
  const Graph graph = parse(text);
  verify(graph);
  CHECK(parse(print(graph)).hash() == graph.hash());
}

TEST_CASE("collectives refuse wrong shapes, ranks and kinds") {
  CHECK(failure<ShapeError>(text_of("kind = \"scatter\", size = 3", "i64[3]"))
            .find("an element for each of 3 processes") != std::string::npos);
  CHECK(failure<ValueError>(text_of("size = 2, root = 2", "i64[2,3]"))
            .find("no rank 2 of 2 processes") != std::string::npos);
  CHECK(failure<ValueError>(text_of("size = 0", "i64[2,3]")).find("at least one process") !=
        std::string::npos);
  CHECK(failure<Error>(text_of("kind = \"mean\"", "i64[2,3]")).find("mean") != std::string::npos);
}

TEST_CASE("a lone process exchanges with itself") {
  const std::vector<std::int64_t> values = {1, 2, 3, 4, 5, 6};
  CHECK(interpreted(text_of("size = 1", "i64[2,3]"), values, {2, 3}) == values);
  CHECK(interpreted(text_of("kind = \"exchange\", size = 1, to = 0, from = 0", "i64[2,3]"), values,
                    {2, 3}) == values);
  CHECK(interpreted(text_of("kind = \"exchange\", size = 1, to = 0", "i64[2,3]"), values, {2, 3}) ==
        std::vector<std::int64_t>(6));
}

TEST_CASE("without a communicator, the interpreter says what is missing") {
  std::string said;
  try {
    interpreted(text_of("communicator = \"others\", size = 2", "i64[2,3]"), {1, 2, 3, 4, 5, 6},
                {2, 3});
  } catch (const DeviceError& error) {
    said = error.what();
  }
  CHECK(said.find("others") != std::string::npos);
}
