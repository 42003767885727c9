#include <algorithm>
#include <utility>

#include "tests/fuzz/control_maker.h"
#include "tests/fuzz/generator.h"

namespace heddle::test {

/// The values of the case's graph, as loops and branches see them.
class Generator::CaseScope final : public Scope {
 public:
  explicit CaseScope(Generator& made) : made_(made) {}

  const ir::Graph& graph() const override { return made_.graph(); }
  std::optional<ValueId> add(Op op, const std::vector<ValueId>& operands,
                             const Attributes& attributes) override {
    return made_.recorder_.add(op, operands, attributes);
  }
  ValueId constant(DType dtype, double value) override {
    return made_.recorder_.constant(dtype, value);
  }
  ValueId result(ValueId call, std::size_t index) override {
    return made_.recorder_.result(call, index);
  }

  ValueId pick() override {
    constexpr std::int64_t most_elements = 400;
    constexpr std::size_t most_axes = 3;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const ValueId value = made_.pick();
      const bool small = made_.recorder_.elements(shape(value)) <= most_elements &&
                         shape(value).size() <= most_axes;
      if (small) return tame(value);
    }
    Shape small = {Dim(1 + static_cast<std::int64_t>(made_.recorder_.below(5)))};
    if (made_.recorder_.chance(0.5)) small.emplace_back(6);
    return *input({made_.any_kind(), small});
  }

  std::optional<ValueId> input(const ir::Type& type) override {
    const bool scalar = type.shape.empty() && made_.recorder_.chance(0.5);
    return tame(made_.recorder_.parameter(type.dtype, type.shape, scalar));
  }

 private:
  ValueId tame(ValueId value) {
    const bool limited = is_inexact(dtype(value));
    return limited ? made_.recorder_.clamped(value, {-8, 8}) : value;
  }

  Generator& made_;
};

/// Draws from numbers of their own, so that graphs without loops do not depend on them.
void Generator::add_control() {
  std::swap(recorder_.random(), control_random_);
  CaseScope around(*this);
  std::vector<ValueId> results;
  for (int attempt = 0; attempt < 3 && results.empty(); ++attempt)
    results = ControlMaker(recorder_, around, 0).make();
  for (const ValueId result : results) settle(result);
  std::swap(recorder_.random(), control_random_);
}

/// How many ops a graph has before each of its loops and branches. Their bodies take compilers
/// long, so such a graph has fewer ops beside them: `length` is lowered.
std::vector<int> Generator::control_places(int& length) {
  std::swap(recorder_.random(), control_random_);
  std::vector<int> places;
  if (recorder_.chance(0.28)) {
    length = 2 + length * 2 / 3;
    do {
      places.push_back(static_cast<int>(recorder_.below(static_cast<std::size_t>(length) / 2)));
    } while (recorder_.chance(0.1));
  }
  std::ranges::sort(places, std::greater<>());
  std::swap(recorder_.random(), control_random_);
  return places;
}

}  // namespace heddle::test
