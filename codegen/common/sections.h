#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/common/embedded.h"

namespace heddle::codegen {

/// Scalar and device code that generated kernels use, embedded when Heddle is built. A file of
/// ir/scalar/ or codegen/device/ is split at lines `//! section NAME [needs A B ...]`; text before
/// the first such line is left out. These lines may follow:
///   `//! defines X Y ...`: the ops and reductions that the section implements;
///   `//! defines_complex X Y ...`: those that it implements for complex operands. Ops for which
///   the arithmetic of section complex suffices need no such line;
///   `//! defines_half X Y ...`: those for which it has a special function for half. The section
///   with the function for all types must be among the needs;
///   `//! host`: only kernels for the CPU use the section.
enum class Side { both, host, device };
struct Section {
  std::string_view name;
  std::string_view text;
  std::vector<std::string_view> needs;            ///< sections that must come before this one
  std::vector<std::string_view> defines;          ///< ops and reductions
  std::vector<std::string_view> defines_complex;  ///< those for complex operands
  std::vector<std::string_view> defines_half;     ///< those for half operands
  Side side = Side::both;                         ///< kernels that use it
};

/// The operand class that selects the implementation of an op.
enum class Operands { any, complex, half };

/// The sections of some files, in an order that satisfies `needs`.
class SectionTable {
 public:
  /// The files' texts must outlive the table. Throws InternalError for a duplicate name or
  /// definition, and for missing or circular needs.
  explicit SectionTable(std::span<const EmbeddedText> files);

  std::span<const Section> all() const { return sections_; }
  /// Throws InternalError for a name that does not exist.
  const Section& find(std::string_view name) const;
  /// The section that defines an op or reduction for this class of operands; null if there is none.
  const Section* defining(std::string_view op, Operands operands = Operands::any) const;
  /// The transitive closure of the names under `needs`, without duplicates, in the table's order.
  /// If `side` is host or device, leaves out the sections of the other side and their needs.
  std::vector<std::string> close_over_needs(std::span<const std::string> names,
                                            Side side = Side::both) const;

 private:
  std::size_t index_of(std::string_view name) const;

  std::vector<Section> sections_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::array<std::unordered_map<std::string_view, std::size_t>, 3> by_definition_;  ///< by Operands
};

/// The sections of ir/scalar/ and codegen/device/.
const SectionTable& library_sections();

/// Throws InternalError for a name that does not exist.
const Section& section(std::string_view name);
std::span<const Section> all_sections();
/// The transitive closure of the names under `needs`, without duplicates, in a fixed order that
/// satisfies `needs`.
std::vector<std::string> close_over_needs(std::vector<std::string> names);

}  // namespace heddle::codegen
