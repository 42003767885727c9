#include <algorithm>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Store;

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
      } else if (!store.by_value) {
        out_.line("store(p{}, {}, v{});", store.operand, body_.index(store.address), store.value);
      }
    }
    return;
  }
  body_.packs_truths = plan_.packs_truths;
  if (plan_.packs_truths) body_.need("truths");
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  if (plan_.unroll > 1) {
    out_.directive("#pragma unroll");
    out_.open("for (int u = 0; u < {}; ++u)", plan_.unroll);
    out_.line("const Index e = ({} * {} + u * {} + Index(threadIdx.x)) * {};", block_index(),
              plan_.threads * plan_.unroll, plan_.threads, plan_.vector);
  } else {
    out_.line("const Index e = ({} * {} + Index(threadIdx.x)) * {};", block_index(), plan_.threads,
              plan_.vector);
  }
  const std::vector<Loop> loops = passes::thread_loops(plan_);
  out_.line("if (e >= {}) return;", body_.extent(passes::iterations(loops)));
  out_.line("assume_not_negative(e);");
  body_.decode(loops, "e");
  if (plan_.row_loops > 0) {
    uneven_rows(stores, body_.needed_for(roots, false));
    if (plan_.unroll > 1) out_.close();
    return;
  }
  const std::string extent = body_.extent(last.extent), position = body_.loop_variable(last.atom);
  if (plan_.held > 0) {
    begin_held_elements();
    hold_loads(tail ? extent + " - " + position : "", [&] { open_held_elements(true); });
    open_held_elements(false);
  }
  const bool shifts =
      std::ranges::any_of(plan_.body, [](const Instruction& one) { return one.shifted_from >= 0; });
  if (tail && shifts) {
    // In whole vectors, it is known at compile time which elements others take from them.
    out_.open("if ({} + {} <= {})", position, plan_.vector, extent);
    const std::vector<bool> declared = body_.declared;
    whole_vectors_ = true;
    element_vector(stores, roots);
    whole_vectors_ = false;
    body_.declared = declared;
    out_.close();
    out_.open("else");
    element_vector(stores, roots);
    out_.close();
  } else {
    element_vector(stores, roots);
  }
  if (plan_.held > 0 || plan_.unroll > 1) out_.close();
}

void CudaPrinter::element_vector(const Stores& stores, const std::vector<int>& roots) {
  const Loop& last = plan_.outer.back();
  const bool tail = has_tail(last);
  const std::string extent = body_.extent(last.extent), position = body_.loop_variable(last.atom);
  const std::string valid = tail ? extent + " - " + position : "";
  vector_addresses(body_.needed_for(roots, false), last);
  const std::vector<int> wanted = body_.needed_for(roots, false);
  vector_loads(wanted, last, valid);
  declare_stores(stores, last);
  const bool reads_lanes = std::ranges::any_of(wanted, [&](int i) {
    const Instruction::Kind kind = plan_.body[i].kind;
    return kind == Instruction::Kind::search || kind == Instruction::Kind::array ||
           (kind == Instruction::Kind::load && lane_of_[i].empty());
  });
  const auto lanes = [&] {
    open_lanes(last, tail && reads_lanes);
    declare_all(wanted);
    lane_stores(stores, last, tail ? "first + k < " + extent : "");
    close_lanes();
  };
  if (has_quick_way(wanted, stores, last)) {
    out_.line("bool rare = false;");
    print_with_exact_fallback(lanes);
  } else {
    lanes();
  }
  vector_stores(stores, last, valid);
}

bool CudaPrinter::has_quick_way(const std::vector<int>& wanted, const Stores& stores,
                                const Loop& loop) const {
  constexpr std::ptrdiff_t enough = 3;
  return std::ranges::count_if(wanted, [&](int i) { return body_.has_quick_way(plan_.body[i]); }) >=
             enough &&
         std::ranges::all_of(stores, [&](const Store* one) { return is_vector(*one, loop); });
}

const Loop& CudaPrinter::held_loop() const {
  return plan_.outer[static_cast<std::size_t>(plan_.held_loop)];
}

// Threads at the end of the loop begin earlier, so that all their loads are in range and need no
// branch. They skip the stores of elements that another thread stores.
void CudaPrinter::begin_held_elements() {
  const Loop& loop = held_loop();
  const std::string name = body_.loop_variable(loop.atom), extent = body_.extent(loop.extent);
  if (loop.extent == passes::Dim(plan_.held)) {
    out_.line("const Index held_begin = 0;");
    return;
  }
  if (loop.extent.divisible_by(plan_.held)) {
    out_.line("const Index held_begin = {} * {};", name, plan_.held);
    return;
  }
  out_.line("const Index held_first = {} * {};", name, plan_.held);
  out_.line("const Index held_begin = held_first + {0} <= {1} ? held_first : {1} - {0};",
            plan_.held, extent);
}

void CudaPrinter::open_held_elements(bool loads) {
  const Loop& loop = held_loop();
  const std::string name = body_.loop_variable(loop.atom);
  out_.directive("#pragma unroll");
  out_.open("for (int h = 0; h < {}; ++h)", plan_.held);
  out_.line("const Index {} = held_begin + h;", name);
  if (!loads && !loop.extent.divisible_by(plan_.held))
    out_.line("if ({} < held_first) continue;", name);
}

void CudaPrinter::tiles() {
  body_.need("shared");
  const Loop& last = plan_.outer.back();
  const Loop& across = plan_.outer[static_cast<std::size_t>(plan_.tile_loop)];
  const std::vector<Loop> rest = passes::untiled_loops(plan_);
  body_.count_tiles();
  // Consecutive blocks go along the shorter side. So blocks whose tiles share a cache line run at
  // about the same time.
  const bool across_first = last.extent.is_constant() && across.extent.is_constant() &&
                            across.extent.constant() < last.extent.constant();
  const char* const first = across_first ? "across" : "last";
  const char* const second = across_first ? "last" : "across";
  out_.line("const Index {0}_begin = {1} % {0}_tiles * {2};", first, block_index(),
            tile_edge(across_first ? across : last));
  out_.line("const Index {0}_begin = {1} / {2}_tiles % {0}_tiles * {3};", second, block_index(),
            first, tile_edge(across_first ? last : across));
  if (!rest.empty()) {
    out_.line("const Index batch = {} / (last_tiles * across_tiles);", block_index());
    body_.decode(rest, "batch");
  }
  std::size_t offset = 0;
  for (const int i : plan_.tiled) {
    const DType dtype = plan_.body[i].dtype;
    out_.line("const auto tile{} = shared_pointer<{}>({});", i, body_.type(dtype), offset);
    offset += passes::tile_bytes(plan_, dtype);
  }
  stage_tiles(across, last);
  out_.line("block_barrier();");
  open_tile(last, across);
  for (const int i : plan_.tiled) {
    lane_of_[i] = plan_.vector == 1
                      ? fmt::format("shared_load(tile{}, {})", i, tile_place("y", "x"))
                      : fmt::format("x{}.v[k]", i);
    if (plan_.vector > 1) {
      out_.line("const auto x{} = shared_load_vector<{}>(tile{}, {});", i, plan_.vector, i,
                tile_place("y", "x"));
    }
  }
  std::vector<int> roots;
  Stores stores;
  for (const Store& store : plan_.stores) {
    stores.push_back(&store);
    roots.push_back(store.value);
  }
  const std::vector<int> wanted = body_.needed_for(roots, false);
  vector_loads(wanted, last, "");
  declare_stores(stores, last);
  open_lanes(last, false);
  declare_all(wanted);
  lane_stores(stores, last, "");
  close_lanes();
  vector_stores(stores, last, "");
  out_.close();
}

// Loads tiles into shared memory. The threads of a warp go along the direction that is contiguous
// for loads. All loads are issued before the first result is used.
void CudaPrinter::stage_tiles(const Loop& across, const Loop& last) {
  const int steps = plan_.tile_across * plan_.tile_last / plan_.vector / plan_.threads;
  for (const int i : plan_.tiled) {
    out_.line("Vector<{}, {}> g{}[{}];", body_.type(plan_.body[i].dtype), plan_.vector, i, steps);
  }
  open_tile(across, last);
  for (const int i : plan_.tiled) {
    const Instruction& load = plan_.body[i];
    const std::string address = body_.index(load.address);
    if (plan_.vector == 1) {
      out_.line("g{}[h].v[0] = load(p{}, {});", i, load.operand, address);
    } else {
      out_.line("g{}[h] = load_vector<{}>(p{}, {});", i, plan_.vector, load.operand, address);
    }
  }
  out_.close();
  open_tile(across, last);
  for (const int i : plan_.tiled) {
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {}; ++k) shared_store(tile{}, {}, g{}[h].v[k]);", plan_.vector,
              i, tile_place("(x + k)", "y"), i);
  }
  out_.close();
}

int CudaPrinter::tile_edge(const Loop& loop) const {
  return &loop == &plan_.outer.back() ? plan_.tile_last : plan_.tile_across;
}

// Opens the loop over a thread's part of the tile, in vectors along the loop `along`. x is the
// position within the tile along that loop, y along the other.
void CudaPrinter::open_tile(const Loop& along, const Loop& other) {
  const int vectors = tile_edge(along) / plan_.vector;
  out_.directive("#pragma unroll");
  out_.open("for (int h = 0; h < {}; ++h)", tile_edge(other) * vectors / plan_.threads);
  // All vectors of a thread have the same x: it has whole columns of the tile's vectors.
  out_.line("const int x = static_cast<int>(threadIdx.x % {}u) * {};", vectors, plan_.vector);
  out_.line("const int y = h * {} + static_cast<int>(threadIdx.x / {}u);", plan_.threads / vectors,
            vectors);
  const auto place = [&](const Loop& loop) {
    const bool is_last = &loop == &plan_.outer.back();
    out_.line("const Index {} = {}_begin + {};", body_.loop_variable(loop.atom),
              is_last ? "last" : "across", &loop == &along ? "x" : "y");
  };
  place(along);
  place(other);
  const auto is_whole = [&](const Loop& loop) {
    return loop.extent.is_constant() && loop.extent.divisible_by(tile_edge(loop));
  };
  std::string outside;
  for (const Loop* loop : {&along, &other}) {
    if (is_whole(*loop)) continue;
    outside += fmt::format("{}{} >= {}", outside.empty() ? "" : " || ",
                           body_.loop_variable(loop->atom), body_.extent(loop->extent));
  }
  if (!outside.empty()) out_.line("if ({}) continue;", outside);
}

// The offset in the tile of the element at position `across` of the tiled loop and `along` of the
// last loop. Vectors stay contiguous; their positions are permuted by row to avoid bank conflicts.
std::string CudaPrinter::tile_place(const std::string& across, const std::string& along) const {
  const int pitch = passes::tile_pitch(plan_), vector = plan_.vector;
  if (vector == 1) return fmt::format("{} * {} + {}", across, pitch, along);
  return fmt::format("{} * {} + ({} ^ {} / {} % {} * {})", across, pitch, along, across, vector,
                     std::min(8, plan_.tile_last / vector), vector);
}

}  // namespace heddle::codegen
