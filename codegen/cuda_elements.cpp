#include <algorithm>

#include "codegen/cuda_printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Store;
using passes::tile_edge;

void CudaPrinter::elements() {
  Stores stores;
  std::vector<int> roots;
  for (const Store& store : plan_.stores) {
    stores.push_back(&store);
    for (const int needed : passes::needs_of(store)) roots.push_back(needed);
  }
  if (plan_.outer.empty()) {
    out_.line("if (threadIdx.x != 0) return;");
    declare_all(body_.needed_for(roots, false));
    for (const Store& store : plan_.stores) {
      if (store.combine) {
        combine_in_memory(store, "");
      } else {
        out_.line("store(p{}, {}, v{});", store.operand, body_.index(store.address), store.value);
      }
    }
    return;
  }
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  if (plan_.unroll > 1) {
    out_.directive("#pragma unroll");
    out_.open("for (int u = 0; u < {}; ++u)", plan_.unroll);
    out_.line("const Index e = (Index(blockIdx.x) * {} + u * {} + Index(threadIdx.x)) * {};",
              plan_.threads * plan_.unroll, plan_.threads, plan_.vector);
  } else {
    out_.line("const Index e = (Index(blockIdx.x) * {} + Index(threadIdx.x)) * {};", plan_.threads,
              plan_.vector);
  }
  out_.line("if (e >= {}) return;", body_.extent(passes::iterations(plan_.outer)));
  body_.decode(plan_.outer, "e");
  const std::string extent = body_.extent(last.extent), position = body_.loop_variable(last.atom);
  const std::string valid = tail ? extent + " - " + position : "";
  vector_loads(body_.needed_for(roots, false), last, valid);
  declare_stores(stores, last);
  open_lanes(last, tail);
  declare_all(body_.needed_for(roots, false));
  lane_stores(stores, last, tail ? "first + k < " + extent : "");
  close_lanes();
  vector_stores(stores, last, valid);
  if (plan_.unroll > 1) out_.close();
}

void CudaPrinter::tiles() {
  body_.need("shared");
  const Loop& last = plan_.outer.back();
  const Loop& across = plan_.outer[static_cast<std::size_t>(plan_.tile_loop)];
  const std::string last_extent = body_.extent(last.extent),
                    across_extent = body_.extent(across.extent);
  const std::string last_name = body_.loop_variable(last.atom),
                    across_name = body_.loop_variable(across.atom);
  const std::vector<Loop> rest = passes::untiled_loops(plan_);
  body_.count_tiles();
  out_.line("const Index last_begin = Index(blockIdx.x) % last_tiles * {};", tile_edge);
  out_.line("const Index across_begin = Index(blockIdx.x) / last_tiles % across_tiles * {};",
            tile_edge);
  if (!rest.empty()) {
    out_.line("const Index batch = Index(blockIdx.x) / (last_tiles * across_tiles);");
    body_.decode(rest, "batch");
  }
  out_.line(
      "const int x = static_cast<int>(threadIdx.x) % {}, y = static_cast<int>(threadIdx.x) / {};",
      tile_edge, tile_edge);
  std::size_t offset = 0;
  for (const int i : plan_.tiled) {
    const DType dtype = plan_.body[i].dtype;
    out_.line("const auto tile{} = shared_pointer<{}>({});", i, body_.type(dtype), offset);
    offset += (tile_edge * (tile_edge + 1) * size_of(dtype) + 15) / 16 * 16;
  }
  // First the threads of a warp run along the loads' direction, then along the stores'.
  const auto open_tile = [&](const char* along_last, const char* along_across) {
    out_.open("for (int j = y; j < {}; j += {})", tile_edge, plan_.threads / tile_edge);
    out_.line("const Index {} = last_begin + {}, {} = across_begin + {};", last_name, along_last,
              across_name, along_across);
    out_.line("if ({} >= {} || {} >= {}) continue;", last_name, last_extent, across_name,
              across_extent);
  };
  open_tile("j", "x");
  for (const int i : plan_.tiled) {
    const Instruction& load = plan_.body[i];
    out_.line("shared_store(tile{}, j * {} + x, load(p{}, {}));", i, tile_edge + 1, load.operand,
              body_.index(load.address));
    lane_of_[i] = fmt::format("shared_load(tile{}, x * {} + j)", i, tile_edge + 1);
  }
  out_.close();
  out_.line("block_barrier();");
  open_tile("x", "j");
  std::vector<int> roots;
  for (const Store& store : plan_.stores) roots.push_back(store.value);
  declare_all(body_.needed_for(roots, false));
  for (const Store& store : plan_.stores) {
    out_.line("store(p{}, {}, v{});", store.operand, body_.index(store.address), store.value);
  }
  out_.close();
}

}  // namespace heddle::codegen
