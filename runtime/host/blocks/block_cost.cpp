#include <algorithm>

#include "runtime/host/blocks/block_kernel.h"

namespace heddle::runtime::host {

namespace {

constexpr double a_step = 15, a_block = 60;  ///< nanoseconds: of an operation, of a list
/// Where lanes cross loops: of a load or store, for a lane and for a run of lanes.
constexpr double a_copied_lane = 0.2, a_run = 10;

struct Cost {
  double block = 0;  ///< nanoseconds for a block of any size
  double lane = 0;   ///< and for each of its lanes
  double of(double lanes, double blocks) const { return lanes * lane + blocks * block; }
};

}  // namespace

double BlockKernel::nanoseconds(const std::int64_t* scalars, std::int64_t units) const {
  ir::SymbolBindings bindings;
  for (std::size_t i = 0; i < symbols.size() && constant_sizes.empty(); ++i)
    bindings.push_back({symbols[i], scalars[i]});
  const auto size = [&](int index) {
    if (!constant_sizes.empty()) return static_cast<double>(constant_sizes[index]);
    return static_cast<double>(sizes[static_cast<std::size_t>(index)].evaluate(bindings));
  };
  const auto cost_of = [&](const StepList& list) {
    Cost cost;
    if (list.steps.empty() && list.stores.empty()) return cost;
    cost.block = a_block + a_step * static_cast<double>(list.steps.size() + list.stores.size());
    for (const Step& step : list.steps)
      cost.lane += operations[static_cast<std::size_t>(step.operation)].lane_nanoseconds;
    for (const int store : list.stores)
      cost.lane += stores[static_cast<std::size_t>(store)].combine ? 5 : 0.2;
    return cost;
  };
  const auto count = static_cast<double>(units), most = static_cast<double>(lanes);
  const double fixed_cost = cost_of(fixed).block;
  // Of segments, the mean.
  const double inner = size(inner_total) / std::max(split, 1) / std::max(size(segments), 1.0);
  switch (mapping) {
    case passes::Mapping::tiles: {
      const double edge = tile_edge;
      return fixed_cost + count * cost_of(all).of(edge * edge, edge);
    }
    case passes::Mapping::rows: {
      double row = a_block;
      for (const StepList& list : of_rows) row += cost_of(list).block;
      for (const PassCode& pass : passes)
        row += cost_of(pass.list).of(inner, inner / most + 1) +
               static_cast<double>(pass.reductions.size()) * (a_block + 0.3 * inner);
      for (const StepList& list : extremes) row += cost_of(list).of(inner, inner / most + 1);
      return fixed_cost + count * row;
    }
    case passes::Mapping::columns: {
      const double width = std::min(static_cast<double>(column_width), size(outer.back().extent));
      double unit = cost_of(finish).of(width, width / most + 1);
      for (const PassCode& pass : passes)
        unit += inner * (cost_of(pass.list).of(width, width / most + 1) +
                         static_cast<double>(pass.reductions.size()) * (a_step + 0.3 * width));
      return fixed_cost + count * unit;
    }
    case passes::Mapping::scan_rows:
    case passes::Mapping::scan_columns: {
      const bool in_rows = mapping == passes::Mapping::scan_rows;
      const double width = in_rows ? inner : static_cast<double>(column_width);
      const double blocks = width / most + 1, times = in_rows ? 1 : inner;
      const double scan = a_step + 2 * width;
      return fixed_cost +
             count * times *
                 (cost_of(scanned).of(width, blocks) + cost_of(results).of(width, blocks) +
                  scan * static_cast<double>(reductions.size()));
    }
    default: {
      const bool in_rows =
          outer.size() > 1 && size(outer.back().extent) >= static_cast<double>(short_loop);
      const double run = in_rows ? std::min(size(outer.back().extent), most) : most;
      const double extent = outer.empty() ? most : std::max(size(outer.back().extent), 1.0);
      const double copy = outer.size() < 2 || in_rows ? 0 : a_copied_lane + a_run / extent;
      return fixed_cost + cost_of(all).of(count, count / run + 1) + count * copy * crossings;
    }
  }
}

}  // namespace heddle::runtime::host
