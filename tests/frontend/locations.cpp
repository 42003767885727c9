// The user's lines, of code that is there no longer: a library that was closed takes the names of
// its files with it.

#include <cstring>
#include <sys/mman.h>

#include "values.h"

using hd::test::contains;
using hd::test::message_of;

namespace {

constexpr std::size_t page = 4096;

/// The name of a file in a library that is closed when this goes.
class ClosingLibrary {
 public:
  explicit ClosingLibrary(const char* name)
      : memory_(mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
    std::strcpy(static_cast<char*>(memory_), name);
  }
  ~ClosingLibrary() { munmap(memory_, page); }
  ClosingLibrary(const ClosingLibrary&) = delete;
  ClosingLibrary& operator=(const ClosingLibrary&) = delete;

  hd::SourceLocation line(std::uint_least32_t number) const {
    return hd::SourceLocation::at(static_cast<const char*>(memory_), number, 1);
  }

 private:
  void* memory_;
};

}  // namespace

TEST_CASE("an op that a closed library recorded is computed, and errors name its line") {
  const hd::Array x = hd::arange<float>(4);
  std::optional<hd::Array> y;
  {
    const ClosingLibrary library("closed.cpp");
    y = hd::exp({x, library.line(12)});
    CHECK(contains(
        message_of<hd::ShapeError>([&] { hd::add({x, library.line(13)}, hd::zeros({3})); }),
        "closed.cpp:13"));
  }
  CHECK(y->to_vector<float>()[0] == 1);
}

TEST_CASE("a jitted function keeps the lines of a library that was closed") {
  auto library = std::make_unique<ClosingLibrary>("closed.cpp");
  const hd::SourceLocation line = library->line(7);
  const auto f = hd::jit([&](const hd::Array& x) { return hd::exp({x, line}) * 2.f; });
  const hd::Lowered lowered = f.lower({hd::spec<float>({3})});
  CHECK(f(hd::zeros({3})).to_vector<float>()[0] == 2);
  library.reset();
  CHECK(f(hd::zeros({3})).to_vector<float>()[0] == 2);
  CHECK(contains(lowered.explain(), "closed.cpp:7"));
}
