#include <map>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "random_graph.h"

using namespace heddle;
using namespace heddle::ir;

TEST_CASE("random graphs over every op print, read back and hash the same") {
  constexpr std::uint64_t graphs = 900;
  std::map<Op, int> graphs_with;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_graph(seed, 4 + static_cast<int>(seed % 60), true);
    verify(graph);
    const std::string text = print(graph);
    CAPTURE(text);
    const Graph copy = parse(text);
    verify(copy);
    CHECK(copy.hash() == graph.hash());
    CHECK(print(copy) == text);
    CHECK(copy.size() <= graph.size());
    for (std::uint32_t i = 0; i < copy.size(); ++i) ++graphs_with[copy.op(ValueId{i})];
  }
  for (int i = 0; i < op_count; ++i) {
    CAPTURE(info(static_cast<Op>(i)).name);
    CHECK(graphs_with[static_cast<Op>(i)] >= 5);
  }
}

TEST_CASE("different random graphs hash differently") {
  std::map<std::string, std::string> texts;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_graph(seed, 30, true);
    const auto [known, is_new] = texts.try_emplace(graph.hash().hex(), print(graph));
    if (!is_new) CHECK(known->second == print(graph));
  }
  CHECK(texts.size() > 250);
}

TEST_CASE("damaged text is a graph or a typed error, never anything else") {
  std::mt19937_64 random(3);
  int read = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::string text = print(random_graph(seed % 100, 12, true));
    for (std::uint64_t damages = 1 + random() % 3; damages > 0; --damages) {
      const std::size_t place = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(place, 1 + random() % 5);
          break;
        case 1:
          text.insert(place, 1, text[random() % text.size()]);
          break;
        default:
          text[place] = static_cast<char>(' ' + random() % 95);
          break;
      }
    }
    CAPTURE(text);
    try {
      verify(parse(text));
      ++read;
    } catch (const InternalError&) {
      FAIL_CHECK("the parser accepted a malformed graph or failed inside");
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(read > 20);
  CHECK(refused > 200);
}
