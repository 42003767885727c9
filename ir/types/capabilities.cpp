#include "ir/types/capabilities.h"

#include <array>

namespace heddle::ir {

const Capabilities& capabilities_of(const Target& target) {
  static constexpr Capabilities host = {.ordered_rows = true,
                                        .half_operations = 8,
                                        .kernel_dots = true,
                                        .checked_spectra = true,
                                        .least_updates = 2,
                                        .rates = {4.0e4, 2.0e4, 2.0}};
  static constexpr Capabilities cuda = {.blocks = true,
                                        .streaming_stores = true,
                                        .kernel_sorts = true,
                                        .graph_conditions = true,
                                        .kernel_dots = true,
                                        .kernel_matvecs = true,
                                        .gemm_halves = true,
                                        .gemm_widens = true,
                                        .gemm_epilogues = true,
                                        .reads_lower_faster = true,
                                        .lu_loses_nan = true,
                                        .splits_long_products = true,
                                        .stacked_systems = true,
                                        .rates = {2.0e7, 4.0e6, 3.0}};
  static constexpr Capabilities sm_90 = [] {
    Capabilities more = cuda;
    more.tile_products = true;
    return more;
  }();
  if (target.architecture == "sm_90") return sm_90;
  static constexpr std::array by_kind = {&host, &cuda};  // in the order of TargetKind
  return *by_kind[static_cast<std::size_t>(target.kind)];
}

}  // namespace heddle::ir
