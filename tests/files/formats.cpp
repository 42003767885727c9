#include "tests/files/formats.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "heddle/heddle.h"
#include "heddle/io.h"
#include "heddle/program.h"

#include "ir/base/hash.h"
#include "ir/graph/graph.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/cache/bundle.h"
#include "runtime/cache/image.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/recording.h"
#include "runtime/device/device.h"
#include "runtime/execute/saved_program.h"
#include "tests/runtime/helpers.h"

namespace heddle::test {

namespace cache = runtime::cache;

namespace {

constexpr const char* graph_text =
    "func @main(%0: f32[n,64], %1: scalar f64) -> (f32[n,64], f32[64]) where n >= 2 {\n"
    "  %2 = max %0 axes=[1] keepdims : f32[n,1]\n"
    "  %3 = subtract %0, %2 : f32[n,64]\n"
    "  %4 = exp %3 : f32[n,64]\n"
    "  %5 = sum %4 axes=[0] : f32[64]\n"
    "  return %4, %5\n"
    "}\n";

constexpr const char* program_text =
    "func @main(%0: f32[n,8]) -> f32[n,8] {\n"
    "  %1 = max %0 axes=[1] keepdims : f32[n,1]\n"
    "  %2 = subtract %0, %1 : f32[n,8]\n"
    "  %3 = exp %2 : f32[n,8]\n"
    "  return %3\n"
    "}\n";

// Checksums.

constexpr std::size_t entry_sum_at = 40, entry_sum_end = cache::header_bytes;

void mend_entry(std::string& bytes, std::size_t at, std::size_t length) {
  if (length < entry_sum_end) return;
  const std::string_view entry = std::string_view(bytes).substr(at, length);
  const ir::Hash128 sum = ir::hash_of(std::string(entry.substr(0, entry_sum_at)) +
                                      std::string(entry.substr(entry_sum_end)));
  std::memcpy(bytes.data() + at + entry_sum_at, &sum.low, 8);
  std::memcpy(bytes.data() + at + entry_sum_at + 8, &sum.high, 8);
}

std::string mend_whole_entry(std::string bytes) {
  mend_entry(bytes, 0, bytes.size());
  return bytes;
}

/// Those of each entry that still begins as one, behind a length that still fits.
std::string mend_entries(std::string bytes) {
  for (std::size_t at = bytes.find("HEDDLEC\n"); at != std::string::npos;
       at = bytes.find("HEDDLEC\n", at + 1)) {
    std::uint64_t length = 0;
    if (at < sizeof length) continue;
    std::memcpy(&length, bytes.data() + at - sizeof length, sizeof length);
    if (length <= bytes.size() - at) mend_entry(bytes, at, length);
  }
  return bytes;
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0);
  }
  return ~crc;
}

/// In an archive of stored files, those of each local header that still begins as one; the central
/// directory's, which counts, is put right from it.
std::string mend_archive(std::string bytes) {
  std::vector<std::uint32_t> sums;
  for (std::size_t at = bytes.find("PK\3\4"); at != std::string::npos;
       at = bytes.find("PK\3\4", at + 1)) {
    if (bytes.size() - at < 30) break;
    std::uint32_t size = 0;
    std::uint16_t name = 0, extra = 0;
    std::memcpy(&size, bytes.data() + at + 18, sizeof size);
    std::memcpy(&name, bytes.data() + at + 26, sizeof name);
    std::memcpy(&extra, bytes.data() + at + 28, sizeof extra);
    const std::size_t begin = at + 30 + name + extra;
    if (begin > bytes.size()) break;
    const std::uint32_t sum = crc_of(std::string_view(bytes).substr(begin, size));
    std::memcpy(bytes.data() + at + 14, &sum, sizeof sum);
    sums.push_back(sum);
  }
  std::size_t file = 0;
  for (std::size_t at = bytes.find("PK\1\2"); at != std::string::npos && file < sums.size();
       at = bytes.find("PK\1\2", at + 1), ++file) {
    if (bytes.size() - at >= 46) std::memcpy(bytes.data() + at + 16, &sums[file], 4);
  }
  return bytes;
}

// Readers.

bool read_array(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  load(path);
  return true;
}

bool read_archive(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  load_npz(path);
  return true;
}

bool read_rows(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  loadtxt(path);
  return true;
}

bool read_quoted_rows(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  loadtxt(path, {.dtype = DType::c64, .delimiter = ',', .quote = '"'});
  return true;
}

bool read_graph(const std::string&, const std::string& bytes) {
  ir::parse(bytes, "mutated.hd");
  return true;
}

bool read_recording(const std::string&, const std::string& bytes) {
  runtime::parse_recording(bytes, "mutated.hdr");
  return true;
}

/// The entry as a store of its own finds it, under the key that it says it has.
bool read_entry(const std::string& path, const std::string& bytes) {
  cache::StoreOptions options;
  options.directory = path + ".cache";
  cache::Store store(options);
  const auto text = cache::peek_key_text(bytes, bytes.size());
  const cache::Key key{ir::Hasher().bytes(text.value_or("")).finish(), text.value_or("")};
  const std::string file = store.path_of(key);
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all);
  write_text(file, bytes);
  store.list();
  store.explain_miss(key);
  const std::optional<cache::Entry> entry = store.load(key);
  std::filesystem::remove_all(options.directory);
  if (entry && entry->kind == cache::PayloadKind::program)
    runtime::decode_program_image(entry->payload);
  return entry.has_value();
}

bool read_bundle(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  const cache::Bundle bundle(cache::read_shipped(path), path);
  for (const std::string_view each : bundle.entries()) {
    const auto entry = cache::decode(each);
    if (entry && entry->kind == cache::PayloadKind::program)
      runtime::decode_program_image(entry->payload);
  }
  return true;
}

bool read_program(const std::string& path, const std::string& bytes) {
  write_text(path, bytes);
  load_program(path).ir();
  return true;
}

// Good files.

std::vector<std::string> good_arrays(const std::string& path) {
  std::vector<std::string> files;
  for (const Array& array : {reshape(arange<float>(24), {2, 3, 4}), ones({5}, DType::boolean),
                             zeros({0, 3}, DType::c128), full({}, 7, DType::i64)}) {
    save(path, array);
    files.push_back(read_text(path));
  }
  std::string fortran = files[0];
  fortran.replace(fortran.find("False"), 5, "True ");
  files.push_back(fortran);
  return files;
}

std::vector<std::string> good_archives(const std::string& path, bool deflated) {
  const NamedArrays arrays = {{"a", reshape(arange<float>(24), {2, 3, 4})},
                              {"b/c", ones({5}, DType::boolean)}};
  (deflated ? savez_compressed : savez)(path, arrays, SourceLocation::current());
  return {read_text(path)};
}

std::string good_program(const std::string& path) {
  const auto f = jit([](const Array& x) { return exp(x - max(x, 1, true)); });
  f.save(path, {spec<float>({"n", 8})});
  return read_text(path);
}

}  // namespace

std::vector<Format> make_formats() {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/good";
  std::vector<Format> formats;
  formats.push_back({"npy", good_arrays(path + ".npy"), nullptr, read_array});
  formats.push_back({"text", {"# a comment\n1 2 3\n4 5.5 -6e3\n"}, nullptr, read_rows});
  formats.push_back({"quoted text", {"\"1\",2+3j,nan\n(4-5j),inf,0\n"}, nullptr, read_quoted_rows});
  try {
    formats.push_back({"npz", good_archives(path + ".npz", false), mend_archive, read_archive});
    formats.push_back({"deflated npz", good_archives(path + ".npz", true), nullptr, read_archive});
  } catch (const FileError&) {
    // No libzip here, which a test of the archives themselves tells of.
  }
  const ir::Graph graph = ir::parse(program_text);
  formats.push_back({"graph", {graph_text, program_text}, nullptr, read_graph});
  formats.push_back({"recording",
                     {runtime::recording_of({graph, {.strict = true, .disabled = {"symbols"}}})},
                     nullptr,
                     read_recording});
  const std::string program =
      runtime::program_entry(graph, runtime::with_environment({}), runtime::host_target());
  formats.push_back({"program entry", {program}, mend_whole_entry, read_entry, true});
  for (const auto& [kind, name] : {std::pair(cache::PayloadKind::cubin, "cubin entry"),
                                   {cache::PayloadKind::ptx, "ptx entry"},
                                   {cache::PayloadKind::host_object, "object entry"},
                                   {cache::PayloadKind::algorithm, "algorithm entry"}}) {
    const cache::Key key = cache::KeyBuilder().add("kind", "module").add("source", name).finish();
    const std::string entry = cache::encode(
        {kind, key.text, R"({"compiler":"none","kernels":["a","b"]})", std::string(300, 'c')});
    formats.push_back({name, {entry}, mend_whole_entry, read_entry, true});
  }
  const std::string module = formats.back().good[0];
  formats.push_back(
      {"bundle", {cache::encode_bundle({program, module})}, mend_entries, read_bundle, true});
  formats.push_back({"hdp", {good_program(path)}, mend_entries, read_program, true});
  return formats;
}

}  // namespace heddle::test
