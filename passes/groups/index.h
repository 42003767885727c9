#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/types/dim.h"
#include "ir/types/shape.h"

namespace heddle::passes {

using ir::Dim;
using ir::Shape;

enum class AtomId : std::uint32_t {};

/// One term of an Index: coefficient * atom.
struct IndexTerm {
  AtomId atom;
  Dim coefficient;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

/// A symbolic index, along one axis or in memory, as a function of loop iterations: a constant plus
/// a sum of terms, sorted by atom. An atom is a loop; a quotient or remainder of an Index (from a
/// reshape that is not affine); or a value of the program (for arrays indexed by arrays).
struct Index {
  Dim offset;
  std::vector<IndexTerm> terms;
  friend bool operator==(const Index&, const Index&) = default;
  bool is_constant() const { return terms.empty(); }
};

/// A text that identifies the index within its space: equal texts mean equal indices.
std::string text_of(const Index& index);

/// One Index for each axis.
using IndexMap = std::vector<Index>;

struct Atom {
  enum class Kind : std::uint8_t {
    loop,
    quotient,
    remainder,
    /// The position given by the value of node `value`, evaluated at `map`.
    gathered,
    computed  ///< the result of instruction `value` of a kernel
  };
  Kind kind = Kind::loop;
  Dim extent;       ///< values are in [0, extent)
  Index numerator;  ///< of a quotient or remainder
  Dim divisor;
  std::uint32_t value = 0;
  IndexMap map = {};
  std::vector<AtomId> loops = {};  ///< loops that it depends on, sorted; unknown for `computed`
  bool by_value = false;           ///< is or depends on a `gathered` or `computed` atom
};

/// Owns atoms, and does index arithmetic in a normal form: provably affine indices are affine, and
/// 8 * (i / 8) + i % 8 becomes i.
class IndexSpace {
 public:
  AtomId new_loop(Dim extent);
  const Atom& atom(AtomId id) const { return atoms_[static_cast<std::uint32_t>(id)]; }

  Index loop(AtomId id) const;
  /// An index along an axis of `extent` elements that is given by a node's value.
  Index gathered(std::uint32_t node, IndexMap map, Dim extent);
  /// An index that is computed by an instruction of a kernel.
  Index computed(std::uint32_t instruction, Dim extent);
  Index add(const Index& a, const Index& b) const;
  Index scale(const Index& a, Dim factor) const;
  /// Floor division and modulo of a non-negative Index by a positive extent.
  Index divide(const Index& a, Dim divisor);
  Index modulo(const Index& a, Dim divisor);
  /// The atom of a quotient or remainder as it is, without simplification. Its values are in
  /// [0, extent).
  AtomId divided(Atom::Kind kind, const Index& numerator, Dim divisor, Dim extent);

  /// Smallest and largest value; known if the offset, coefficients and extents are constants.
  struct Range {
    std::int64_t minimum, maximum;
  };
  std::optional<Range> range(const Index& index) const;
  /// Whether 0 <= index < extent is provable for all values of the symbols (each at least 0).
  bool in_range(const Index& index, Dim extent) const;

  /// Appends every loop that the index depends on, also through quotients and remainders.
  void collect_loops(const Index& index, std::vector<AtomId>& loops) const;
  /// Coefficient of a loop that occurs outside quotients and remainders; otherwise 0.
  Dim coefficient(const Index& index, AtomId loop) const;
  /// Whether the loop occurs inside a quotient or remainder.
  bool nested(const Index& index, AtomId loop) const;
  /// The index with each `gathered` or `computed` atom replaced by `replace(atom)`.
  Index with_values(const Index& index, const std::function<Index(AtomId)>& replace);
  /// Whether the index depends on values of the program.
  bool is_by_value(const Index& index) const;

 private:
  Index normalized(Index index) const;
  AtomId intern(Atom atom);

  std::vector<Atom> atoms_;
  std::unordered_map<std::string, AtomId> interned_;
};

/// Offset in elements, in a C-ordered array of `shape`, of the element at `map`.
Index linear_index(IndexSpace& space, const IndexMap& map, const Shape& shape);
/// Converts a map into `to` to a map into `from`, where `to` is a reshape of `from`. Corresponding
/// axes are handled separately, so that only axes that are really mixed give quotients and
/// remainders.
IndexMap reshape_map(IndexSpace& space, const IndexMap& map, const Shape& to, const Shape& from);

}  // namespace heddle::passes
