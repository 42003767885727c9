#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/types/dim.h"

namespace heddle::ir {

/// How the numbers of several graphs of one structure follow from each other: what generalize()
/// makes symbols and expressions of.

/// The values of one number in all graphs.
using Row = std::vector<std::int64_t>;

bool same_in_all(const Row& row);
/// The factor from one number to another, of numbers that are not negative.
std::optional<std::int64_t> constant_ratio(const Row& row, const Row& base);
std::optional<std::int64_t> constant_difference(const Row& row, const Row& base);
std::optional<std::int64_t> constant_sum(const Row& row, const Row& other);

/// row = factor * base + rest in all graphs. Of two graphs every number is that of every other.
struct Line {
  std::int64_t factor, rest;
};
std::optional<Line> line_through(const Row& row, const Row& base);

/// Expressions for numbers, by the values that they have had.
class Expressions {
 public:
  /// Of a number that has been met before.
  std::optional<Dim> find(const Row& row) const;
  /// Of a number that follows from those before.
  std::optional<Dim> derive(const Row& row) const;

  /// `dim` stands for the row. A symbol is what further rows are derived from.
  void add(const Row& row, Dim dim) { known_.emplace(row, dim); }
  void add_base(const Row& row, Dim symbol) {
    add(row, symbol);
    bases_.emplace_back(row, symbol);
  }

 private:
  std::optional<Dim> derive_from_two(const Row& row) const;

  std::map<Row, Dim> known_;
  std::vector<std::pair<Row, Dim>> bases_;
};

}  // namespace heddle::ir
