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

/// One summand of an Index: coefficient times an atom.
struct IndexTerm {
  AtomId atom;
  Dim coefficient;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

/// Which element of an array a loop iteration touches, along one axis or in memory: a constant plus
/// a sum of terms, sorted by atom. Atoms are loops, quotients and remainders of an Index where a
/// reshape is not affine, or values of the program where an array is read by index.
struct Index {
  Dim offset;
  std::vector<IndexTerm> terms;
  friend bool operator==(const Index&, const Index&) = default;
  bool is_constant() const { return terms.empty(); }
};

/// A text that only equal ones share, within one space.
std::string text_of(const Index& index);

/// An Index per axis.
using IndexMap = std::vector<Index>;

struct Atom {
  enum class Kind : std::uint8_t {
    loop,
    quotient,
    remainder,
    gathered,  ///< the position that the value of node `value` names where it is evaluated at `map`
    computed   ///< the result of a kernel's instruction `value`
  };
  Kind kind = Kind::loop;
  Dim extent;       ///< values are in [0, extent)
  Index numerator;  ///< quotient and remainder
  Dim divisor;
  std::uint32_t value = 0;
  IndexMap map = {};
  std::vector<AtomId> loops = {};  ///< that it depends on, sorted; of `computed` unknown
  bool by_value = false;           ///< is, or depends on, `gathered` or `computed`
};

/// Owns atoms and does arithmetic that keeps one normal form: what can be proven affine is affine,
/// and 8 * (i / 8) + i % 8 is i again.
class IndexSpace {
 public:
  AtomId new_loop(Dim extent);
  const Atom& atom(AtomId id) const { return atoms_[static_cast<std::uint32_t>(id)]; }

  Index loop(AtomId id) const;
  /// The position along an axis of `extent` elements that a node's value names.
  Index gathered(std::uint32_t node, IndexMap map, Dim extent);
  /// A position that an instruction of a kernel computes.
  Index computed(std::uint32_t instruction, Dim extent);
  Index add(const Index& a, const Index& b) const;
  Index scale(const Index& a, Dim factor) const;
  /// Floor division and modulo of a non-negative Index by a positive extent.
  Index divide(const Index& a, Dim divisor);
  Index modulo(const Index& a, Dim divisor);

  /// Largest and smallest values, when the offset and all extents that matter are constants.
  struct Range {
    std::int64_t minimum, maximum;
  };
  std::optional<Range> range(const Index& index) const;
  /// Provable whatever the symbols are (each at least 0).
  bool in_range(const Index& index, Dim extent) const;

  /// Every loop that the index depends on, quotients and remainders included.
  void collect_loops(const Index& index, std::vector<AtomId>& loops) const;
  /// Coefficient of a loop that occurs outside quotients and remainders; 0 when it does not.
  Dim coefficient(const Index& index, AtomId loop) const;
  /// The loop occurs inside a quotient or remainder.
  bool nested(const Index& index, AtomId loop) const;
  /// The index with what `replace` gives for each `gathered` or `computed` atom in its place.
  Index with_values(const Index& index, const std::function<Index(AtomId)>& replace);
  /// Depends on values of the program.
  bool is_by_value(const Index& index) const;

 private:
  Index normalized(Index index) const;
  AtomId intern(Atom atom);

  std::vector<Atom> atoms_;
  std::unordered_map<std::string, AtomId> interned_;
};

/// Memory offset in elements of `map` in a C-ordered array of `shape`.
Index linear_index(IndexSpace& space, const IndexMap& map, const Shape& shape);
/// The map into `from` of what `map` addresses in `to`, a reshape of it: axes that correspond are
/// kept apart, so that only axes which are really mixed turn into quotients and remainders.
IndexMap reshape_map(IndexSpace& space, const IndexMap& map, const Shape& to, const Shape& from);

}  // namespace heddle::passes
