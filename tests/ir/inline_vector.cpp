#include "ir/base/inline_vector.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using heddle::ir::InlineVector;

namespace {

using Inline = InlineVector<std::int64_t, 4>;
using Plain = std::vector<std::int64_t>;

Plain plain(const Inline& values) { return {values.begin(), values.end()}; }

/// Random changes of a vector of each kind, which have the same elements before and after.
class Twins {
 public:
  void change() {
    const auto place = [&] { return static_cast<std::ptrdiff_t>(below(plain_.size() + 1)); };
    const std::int64_t value = below(100);
    switch (below(10)) {
      case 0:
      case 1:
        inline_.push_back(value);
        return plain_.push_back(value);
      case 2: {
        const auto at = place();
        CHECK(*inline_.insert(inline_.begin() + at, value) == value);
        plain_.insert(plain_.begin() + at, value);
        return;
      }
      case 3: {
        const auto at = place();
        const Plain more(static_cast<std::size_t>(below(4)), value);
        inline_.insert(inline_.begin() + at, more.begin(), more.end());
        plain_.insert(plain_.begin() + at, more.begin(), more.end());
        return;
      }
      case 4: {
        const auto a = place(), b = place();
        inline_.erase(inline_.begin() + std::min(a, b), inline_.begin() + std::max(a, b));
        plain_.erase(plain_.begin() + std::min(a, b), plain_.begin() + std::max(a, b));
        return;
      }
      case 5: {
        const auto size = static_cast<std::size_t>(below(9));
        inline_.resize(size, value);
        return plain_.resize(size, value);
      }
      case 6: {
        Inline moved = std::move(inline_);
        inline_ = Inline(3, value);
        return std::swap(inline_, moved);
      }
      case 7: {
        Inline copy = inline_;
        copy.push_back(value);
        inline_ = copy;
        return plain_.push_back(value);
      }
      case 8:
        erase_if(inline_, [&](std::int64_t one) { return one % 3 == value % 3; });
        std::erase_if(plain_, [&](std::int64_t one) { return one % 3 == value % 3; });
        return;
      default:
        if (plain_.empty()) return;
        inline_.pop_back();
        plain_.pop_back();
    }
  }

  void check() const {
    CHECK(plain(inline_) == plain_);
    CHECK(inline_ == Inline(plain_.begin(), plain_.end()));
    CHECK(inline_.empty() == plain_.empty());
  }

 private:
  std::int64_t below(std::size_t limit) { return static_cast<std::int64_t>(random_() % limit); }

  std::mt19937_64 random_{7};
  Inline inline_;
  Plain plain_;
};

}  // namespace

TEST_CASE("an inline vector changes as a vector does") {
  Twins twins;
  for (int i = 0; i < 20000; ++i) {
    twins.change();
    twins.check();
  }
}

TEST_CASE("an inline vector that is moved from is empty, and can be used again") {
  for (const std::size_t size : {std::size_t{2}, std::size_t{9}}) {
    Inline from(size, 5);
    const Inline to = std::move(from);
    CHECK(from.empty());  // NOLINT(bugprone-use-after-move)
    from = {1, 2, 3, 4, 5, 6};
    CHECK(plain(from) == Plain{1, 2, 3, 4, 5, 6});
    CHECK(to == Inline(size, 5));
    CHECK_THROWS_AS(static_cast<void>(to.at(size)), std::out_of_range);
  }
}
