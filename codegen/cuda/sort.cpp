#include "codegen/cuda/printer.h"

namespace heddle::codegen {

namespace {

using Kind = passes::SortKernel::Kind;

/// The parameters of a sort kernel, in the order of passes::launches, and the call that is its
/// body.
struct SortText {
  std::string parameters, call;
  bool moves = true;  ///< the kernel moves elements to the address in the last parameters
};

SortText text_of(const passes::SortKernel& sort, int threads) {
  const std::string block = fmt::format("{}, {}", threads, sort.items);
  const char* const places = sort.indices ? ", const I* from_places" : "";
  const char* const no_places = "static_cast<const I*>(nullptr)";
  switch (sort.kind) {
    case Kind::tiles:
      return {
          "const long long rows, const long long length, const long long width_bits, const T* from",
          fmt::format("sort_tiles<{}>(rows, length, width_bits, from", block)};
    case Kind::merge:
      return {fmt::format("const long long length, const long long run, const T* from{}", places),
              fmt::format("merge_tiles<{}>(length, run, from, {}", block,
                          sort.indices ? "from_places" : no_places)};
    case Kind::count:
      return {"const long long length, const T* from, W* counts",
              fmt::format("radix_count<{}, {}>(length, from, counts", block, sort.rounds), false};
    case Kind::pass:
      break;
  }
  return {
      fmt::format("const long long length, const long long shift, const T* from{}{}, "
                  "const W* counts, W* words",
                  sort.indices ? ", const long long is_first" : "", places),
      fmt::format(
          "radix_pass<{}>(length, static_cast<int>(shift), from, {}, counts, words", block,
          sort.indices ? fmt::format("is_first != 0 ? {} : from_places", no_places) : no_places)};
}

}  // namespace

void CudaPrinter::sort() {
  const passes::SortKernel& sort = *plan_.sort;
  const bool radix = sort.kind != Kind::tiles && sort.kind != Kind::merge;
  body_.need(radix ? "radix_sort" : "sort");
  out_.line("using T = {};", body_.type_with_section(sort.dtype));
  out_.line("using I = {};",
            !sort.indices ? "KeysOnly" : (sort.index_bits == 32 ? "int" : "long long"));
  if (radix)
    out_.line("using W = {};", sort.word_bits == 32 ? "unsigned int" : "unsigned long long");
  const SortText text = text_of(sort, plan_.threads);
  const char* results = "";
  if (text.moves)
    results = sort.indices ? ", T* keys, I* places, long long* result, const long long last"
                           : ", T* keys";
  out_.line("extern \"C\" __global__ void __launch_bounds__({}, {})", plan_.threads,
            plan_.least_blocks);
  out_.open("{}({}{})", name_placeholder, text.parameters, results);
  if (text.moves) {
    out_.line("const SortResults<T, I> to{{{}}};",
              sort.indices ? "keys, places, result, last != 0" : "keys, nullptr, nullptr, false");
  }
  out_.line("{}{});", text.call, text.moves ? ", to" : "");
  out_.close();
}

}  // namespace heddle::codegen
