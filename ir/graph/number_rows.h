#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/types/dim.h"

namespace heddle::ir {

/// Relations between the numbers of several graphs of one structure. generalize() makes symbols and
/// expressions from them.

/// The values of one number, one for each graph.
using Row = std::vector<std::int64_t>;

bool same_in_all(const Row& row);
/// The c with row == c * base in all graphs; nullopt if a number is negative.
std::optional<std::int64_t> constant_ratio(const Row& row, const Row& base);
std::optional<std::int64_t> constant_difference(const Row& row, const Row& base);
std::optional<std::int64_t> constant_sum(const Row& row, const Row& other);

/// row == factor * base + rest in all graphs. With only two graphs, such a line often exists by
/// coincidence.
struct Line {
  std::int64_t factor, rest;
};
std::optional<Line> line_through(const Row& row, const Row& base);

/// Expressions for numbers, looked up by the number's row.
class Expressions {
 public:
  /// The expression of a row that was added before.
  std::optional<Dim> find(const Row& row) const;
  /// An expression of a new row in terms of the symbols added before.
  std::optional<Dim> derive(const Row& row) const;

  /// Records that `dim` is the expression of `row`. add_base() records a symbol, from which
  /// derive() derives further rows.
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
