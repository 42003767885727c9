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

/// Scalar and device code that generated kernels are printed over, embedded when Heddle is built.
/// A file of ir/scalar/ or codegen/device/ is split at lines `//! section NAME [needs A B ...]`;
/// what stands before the first such line is left out. A line `//! defines X Y ...` below it names
/// the ops and reductions whose meaning the section is; `//! defines_complex X Y ...` those whose
/// meaning it is for complex operands, where that takes more than the arithmetic of section
/// complex; `//! defines_half X Y ...` those that have functions of their own for half, beside
/// those of every type, whose section stands among the needs. A line `//! host` says that
/// kernels of GPUs do without the section.
enum class Side { both, host, device };
struct Section {
  std::string_view name;
  std::string_view text;
  std::vector<std::string_view> needs;            ///< sections that must stand before
  std::vector<std::string_view> defines;          ///< ops and reductions
  std::vector<std::string_view> defines_complex;  ///< those of complex operands
  std::vector<std::string_view> defines_half;     ///< those of half operands
  Side side = Side::both;                         ///< whose kernels take it
};

/// What the meaning of an op depends on.
enum class Operands { any, complex, half };

/// The sections of some files, each after those that it needs.
class SectionTable {
 public:
  /// The files' texts must outlive the table. Throws InternalError for a name or definition that is
  /// there twice, and for needs that are missing or circular.
  explicit SectionTable(std::span<const EmbeddedText> files);

  std::span<const Section> all() const { return sections_; }
  /// Throws InternalError for a name that does not exist.
  const Section& find(std::string_view name) const;
  /// The section that defines an op or reduction for such operands; null where none does.
  const Section* defining(std::string_view op, Operands operands = Operands::any) const;
  /// The names with everything that they need, each once, in the table's order.
  /// Sections of the other side are left out, and what only they need.
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
/// The names with everything that they need, each once, in a fixed order that satisfies `needs`.
std::vector<std::string> close_over_needs(std::vector<std::string> names);

}  // namespace heddle::codegen
