#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/emulator/launch_kernel.h"

namespace heddle::emulator {
namespace {

/// A kernel over (p0: [n] read, p1: [n] written, n) in which `FAULT` stands where the mended kernel
/// has another text.
struct Planted {
  std::string title;
  std::vector<std::string> sections;
  std::string body;
  std::string mended, faulty;
  std::vector<std::string> said;  ///< parts of the message
  std::uint32_t block = 64;
  std::uint32_t blocks = 1;
  std::uint32_t cluster = 1;
  std::int64_t elements = 64;
  std::size_t misaligned = 0;  ///< elements that p0 and p1 are moved by
};

std::string with(std::string body, const std::string& text) {
  for (std::size_t at; (at = body.find("FAULT")) != std::string::npos;) body.replace(at, 5, text);
  return "extern \"C\" __global__ void __launch_bounds__(256) KERNEL(const float* p0, float* p1, "
         "int n)"
         " {\n  const int t = threadIdx.x;\n  const int i = blockIdx.x * blockDim.x + t;\n" +
         body + "\n}\n";
}

codegen::KernelSource source_of(const Planted& planted, const std::string& name,
                                const std::string& text) {
  std::string body = with(planted.body, text);
  body.replace(body.find("KERNEL"), 6, name);
  return {name, planted.sections, body};
}

void run(EmulatedModule& module, const std::string& name, const Planted& planted) {
  const std::size_t n = static_cast<std::size_t>(planted.elements);
  std::vector<float> in(n + 4, 1.0f), out(n + 4);
  LaunchShape shape;
  shape.block = {planted.block, 1, 1};
  shape.grid = {planted.blocks, 1, 1};
  shape.cluster = planted.cluster;
  shape.shared_bytes = 1024;
  launch(module, name, shape, Argument::read(in.data() + planted.misaligned, n * sizeof(float)),
         Argument::write(out.data() + planted.misaligned, n * sizeof(float)),
         Argument::scalar(static_cast<int>(n)));
}

const std::vector<Planted> all_planted = {
    {"a read one too far",
     {"memory"},
     "store(p1, i, load(p0, FAULT));",
     "i",
     "i + 1",
     {"thread (63, 0, 0) of block (0, 0, 0)", "load", "element 64 of pointer parameter 0",
      "64 elements", "out of range"}},
    {"a read one before the start",
     {"memory"},
     "store(p1, i, load(p0, FAULT));",
     "i",
     "i - 1ll",
     {"thread (0, 0, 0)", "out of range"}},
    {"a write one too far",
     {"memory"},
     "store(p1, i, 0.0f); if (i == n - 1) store(p1, FAULT, 0.0f);",
     "i",
     "i + 1",
     {"thread (63, 0, 0)", "store", "element 64 of pointer parameter 1", "out of range"}},
    {"a tail without its check",
     {"memory"},
     "if (FAULT) store(p1, i, load(p0, i));",
     "i < n",
     "true",
     {"thread (27, 0, 0) of block (1, 0, 0)", "out of range"},
     64,
     2,
     1,
     91},
    {"a vector read over the end",
     {"memory"},
     "if (4 * i < n - FAULT) store_vector<4>(p1, 4 * i, load_vector<4>(p0, 4 * i));"
     "else if (4 * i < n) for (int k = 4 * i; k < n; ++k) store(p1, k, 0.0f);",
     "3",
     "0",
     {"load_vector", "elements 60..63", "has 62 elements", "out of range"},
     64,
     1,
     1,
     62},
    {"a misaligned vector read",
     {"memory"},
     "if (i < n / 4) store_vector<4>(p1, 4 * i, load_vector<4>(p0, FAULT));",
     "4 * i",
     "i == 0 ? 0 : 4 * i - 2",
     {"load_vector", "misaligned", "multiple of 16"}},
    {"vector accesses to buffers off by an element",
     {"memory"},
     "if (i < n / FAULT) store_vector<FAULT>(p1, FAULT * i, load_vector<FAULT>(p0, FAULT * i));",
     "1",
     "4",
     {"load_vector", "misaligned"},
     64,
     1,
     1,
     64,
     1},
    {"a write to a parameter that is only read",
     {"memory"},
     "store(p1, i, 0.0f); store(FAULT, i, 0.0f);",
     "p1",
     "const_cast<float*>(p0)",
     {"parameter 0", "only to be read"}},
    {"a pointer to nowhere",
     {"memory"},
     "store(p1, i, load(FAULT, i));",
     "p0",
     "static_cast<const float*>(nullptr)",
     {"lies in no parameter's buffer"}},
    {"an output element never written",
     {"memory"},
     "if (i != FAULT) store(p1, i, 0.0f);",
     "n",
     "17",
     {"never wrote element 17 of pointer parameter 1"}},
    {"an output read before it is written",
     {"memory"},
     "store(p1, i, load(FAULT, i));",
     "p0",
     "p1",
     {"parameter 1", "nothing has been written there"}},
    {"two threads that write one element",
     {"memory"},
     "store(p1, FAULT, 1.0f); if (FAULT != i) store(p1, i, 1.0f);",
     "i",
     "i / 2",
     {"store", "element 0 of pointer parameter 1", "a race"}},
    {"two blocks that write one element",
     {"memory"},
     "if (blockIdx.x == FAULT) store(p1, t, 1.0f);",
     "0",
     "blockIdx.x",
     {"block (1, 0, 0)", "a race", "of block number 0"},
     64,
     2},
    {"reading what another thread writes",
     {"memory", "shared"},
     "store(p1, i, 1.0f); FAULT; if (load(p1, (i + 1) % n) != 1.0f) store(p1, i, 2.0f);",
     "block_barrier()",
     "block_barrier(); store(p1, i, 3.0f)",
     {"parameter 1", "a race"}},
    {"a missing barrier after a store",
     {"memory", "shared"},
     "auto s = shared_pointer<float>(0); shared_store(s, t, 1.0f); FAULT;"
     "store(p1, i, shared_load(s, t == 0 ? 0 : t - 1));",
     "block_barrier()",
     "",
     {"shared_load", "a race", "no barrier between", "thread (0, 0, 0)"}},
    {"a missing barrier before memory is used again",
     {"memory", "shared"},
     "auto s = shared_pointer<float>(0); shared_store(s, t, 1.0f); block_barrier();"
     "const float x = shared_load(s, (t + 1) % 64); FAULT; shared_store(s, t, x); store(p1, i, x);",
     "block_barrier()",
     "",
     {"shared_store", "a race"}},
    {"two threads that write one byte of shared memory",
     {"memory", "shared"},
     "shared_store(shared_pointer<bool>(0), FAULT, true); store(p1, i, 0.0f);",
     "t",
     "t / 2",
     {"shared_store", "a race"}},
    {"a warp barrier where a block barrier is needed",
     {"memory", "shared", "warp"},
     "auto s = shared_pointer<float>(0); shared_store(s, t, 0.0f); block_barrier();"
     "shared_store(s, t, 1.0f); warp_barrier(); store(p1, i, shared_load(s, t ^ FAULT));",
     "31",
     "32",
     {"a race"}},
    {"a barrier in divergent code",
     {"memory", "shared"},
     "if (FAULT) block_barrier(); store(p1, i, 0.0f);",
     "n > 0",
     "t < 60",
     {"block_barrier", "60 of 64 threads", "has returned"}},
    {"threads at different barriers",
     {"memory", "shared"},
     "if (FAULT) {\n block_barrier();\n } else {\n block_barrier();\n }\n store(p1, i, 0.0f);",
     "n > 0",
     "t < 32",
     {"different barriers"}},
    {"a return before a barrier",
     {"memory", "shared"},
     "store(p1, i, 0.0f); if (FAULT) return; block_barrier();",
     "n < 0",
     "t == 5",
     {"63 of 64 threads", "thread (5, 0, 0) has returned"}},
    {"reading shared memory that nobody wrote",
     {"memory", "shared"},
     "auto s = shared_pointer<float>(0); shared_store(s, t, 1.0f); block_barrier();"
     "store(p1, i, shared_load(s, t + FAULT));",
     "0",
     "1",
     {"thread (63, 0, 0)", "shared_load", "at byte 256", "nothing has been written there"}},
    {"reading what the block before left in shared memory",
     {"memory", "shared"},
     "auto s = shared_pointer<float>(0); if (blockIdx.x FAULT) shared_store(s, t, 1.0f);"
     "block_barrier(); store(p1, i, shared_load(s, t));",
     "< 2",
     "== 0",
     {"block (1, 0, 0)", "nothing has been written there"},
     64,
     2,
     1,
     128},
    {"shared memory out of range",
     {"memory", "shared"},
     "shared_store(shared_pointer<float>(0), t + FAULT, 1.0f); store(p1, i, 0.0f);",
     "192",
     "193",
     {"thread (63, 0, 0)", "has 1024 of, at byte 1024", "out of range"}},
    {"a misaligned vector of shared memory",
     {"memory", "shared"},
     "shared_store_vector<2>(shared_pointer<float>(0), FAULT, Vector<float, 2>{{1.0f, 1.0f}});"
     "store(p1, i, 0.0f);",
     "2 * t",
     "2 * t + 1",
     {"shared_store_vector", "misaligned"}},
    {"a shuffle width that is no power of two",
     {"memory", "warp"},
     "store(p1, i, shuffle_xor(load(p0, i), 1, FAULT));",
     "16",
     "24",
     {"shuffle_xor", "width 24"}},
    {"a shuffle mask beyond its width",
     {"memory", "warp"},
     "store(p1, i, shuffle_xor(load(p0, i), FAULT, 16));",
     "8",
     "16",
     {"lane mask 16 reaches outside its group of 16 lanes"}},
    {"a shuffle from a lane beyond its width",
     {"memory", "warp"},
     "store(p1, i, shuffle(load(p0, i), FAULT, 8));",
     "t % 8",
     "t % 9",
     {"lane 8 reaches outside its group of 8 lanes"}},
    {"lanes that disagree about a shuffle",
     {"memory", "warp"},
     "store(p1, i, shuffle_down(load(p0, i), FAULT, 32));",
     "1",
     "t % 2",
     {"is in another call"}},
    {"a shuffle with lanes missing",
     {"memory", "warp"},
     "float x = load(p0, i); if (FAULT) x = shuffle_xor(x, 1, 32); store(p1, i, x);",
     "i < n",
     "i < n - 1",
     {"31 of 32 lanes", "thread (63, 0, 0), also of the warp, has returned"}},
    {"a shuffle against a barrier",
     {"memory", "warp", "shared"},
     "float x = load(p0, i); if (FAULT) x = shuffle_xor(x, 1, 32); block_barrier();"
     "store(p1, i, x);",
     "t < 32",
     "t < 16",
     {"16 of 32 lanes", "at the block_barrier"}},
    {"reading what lanes of the warp add to with no barrier",
     {"memory", "shared", "warp"},
     "auto s = shared_pointer<int>(0); if (t % 32 == 0) shared_store(s, t / 32, 0);"
     "warp_barrier(); shared_atomic_add(s, t / 32, 1); FAULT;"
     "store(p1, i, static_cast<float>(shared_load(s, t / 32)));",
     "warp_barrier()",
     "",
     {"shared_load", "a race"}},
    {"reading what other warps add to behind a warp's barrier only",
     {"memory", "shared", "warp"},
     "auto s = shared_pointer<int>(0); if (t == 0) shared_store(s, 0, 0);"
     "block_barrier(); shared_atomic_add(s, 0, 1); FAULT;"
     "store(p1, i, static_cast<float>(shared_load(s, 0)));",
     "block_barrier()",
     "warp_barrier()",
     {"shared_load", "a race"}},
    {"storing to what other lanes add to",
     {"memory", "shared"},
     "auto s = shared_pointer<unsigned int>(0); shared_store(s, t, 0u);"
     "block_barrier(); if (FAULT) shared_atomic_or(s, 0, 1u); else shared_store(s, 0, 2u);"
     "store(p1, i, 1.0f);",
     "true",
     "t > 0",
     {"shared_", "a race"}},
    {"a cluster's block that exits while another may write to it",
     {"memory", "cluster"},
     "auto s = shared_pointer<float>(64); auto e = shared_pointer<unsigned long long>(0);"
     "if (t == 0) open_exchange(e, 256); await_exchanges();"
     "push_shared(s, t, 1.0f, 1 - cluster_rank(), e); FAULT; store(p1, i, 1.0f);",
     "await_exchange(e)",
     "",
     {"may exit while another writes"},
     64,
     2,
     2,
     128},
    {"reading what another block of the cluster pushed behind a block's barrier only",
     {"memory", "cluster"},
     "auto s = shared_pointer<float>(64); auto e = shared_pointer<unsigned long long>(0);"
     "if (t == 0) open_exchange(e, 256); await_exchanges();"
     "push_shared(s, t, 1.0f, 1 - cluster_rank(), e); FAULT;"
     "store(p1, i, shared_load(s, t)); await_exchange(e);",
     "await_exchange(e)",
     "block_barrier()",
     {"shared_load"},
     64,
     2,
     2,
     128},
    {"an exchange that waits for more than comes",
     {"memory", "cluster"},
     "auto s = shared_pointer<float>(64); auto e = shared_pointer<unsigned long long>(0);"
     "if (t == 0) open_exchange(e, FAULT); await_exchanges();"
     "push_shared(s, t, 1.0f, 1 - cluster_rank(), e); await_exchange(e);"
     "store(p1, i, shared_load(s, t));",
     "256",
     "260",
     {"4 bytes of it have not come"},
     64,
     2,
     2,
     128},
    {"a rank outside the cluster",
     {"memory", "cluster"},
     "auto s = shared_pointer<float>(64); auto e = shared_pointer<unsigned long long>(0);"
     "if (t == 0) open_exchange(e, 256); await_exchanges();"
     "push_shared(s, t, 1.0f, FAULT, e); await_exchange(e); store(p1, i, shared_load(s, t));",
     "1 - cluster_rank()",
     "2",
     {"rank 2 of a cluster of 2 blocks"},
     64,
     2,
     2,
     128},
};

TEST_CASE("every planted fault is reported, and the mended kernel is not") {
  std::vector<codegen::KernelSource> kernels;
  for (std::size_t i = 0; i < all_planted.size(); ++i) {
    const Planted& planted = all_planted[i];
    kernels.push_back(source_of(planted, "mended_" + std::to_string(i), planted.mended));
    kernels.push_back(source_of(planted, "faulty_" + std::to_string(i), planted.faulty));
  }
  EmulatedModule module = EmulatedModule::compile(kernels);
  for (std::size_t i = 0; i < all_planted.size(); ++i) {
    const Planted& planted = all_planted[i];
    INFO(planted.title);
    CHECK_NOTHROW(run(module, "mended_" + std::to_string(i), planted));
    std::string message;
    try {
      run(module, "faulty_" + std::to_string(i), planted);
    } catch (const EmulationError& error) {
      message = error.what();
    }
    INFO(message);
    CHECK(message.find("faulty_" + std::to_string(i)) != std::string::npos);
    for (const std::string& part : planted.said) {
      CAPTURE(part);
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("a handover between blocks needs a fence and an atomic on both sides") {
  const auto handover = [](const std::string& name, const std::string& give,
                           const std::string& take) {
    return codegen::KernelSource{name,
                                 {"memory", "atomic"},
                                 "extern \"C\" __global__ void " + name +
                                     "(int* p0, int* p1) {\n"
                                     "  if (blockIdx.x == 0) { store(p0, 0, 7); " +
                                     give +
                                     " }\n"
                                     "  else { " +
                                     take + " store(p0, 1, load(p0, 0)); }\n}\n"};
  };
  const std::string fence = "device_fence(); ", add = "atomic_add(p1, 0, 1); ";
  const codegen::KernelSource kernels[] = {
      handover("whole", fence + add, add + fence), handover("no_fence", add, add + fence),
      handover("no_release", fence, add + fence), handover("no_acquire", fence + add, "")};
  EmulatedModule module = EmulatedModule::compile(kernels);
  const auto run_one = [&](std::string_view name) {
    std::vector<int> out(2), counter(1);
    launch(module, name, {.grid = {2, 1, 1}}, write(out), read_write(counter));
    CHECK(out[1] == 7);
  };
  run_one("whole");
  for (const char* name : {"no_fence", "no_release", "no_acquire"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(run_one(name), doctest::Contains("a race"), EmulationError);
  }
}

TEST_CASE("a fault names the line of the kernel's text") {
  const codegen::KernelSource kernel{
      "second_line",
      {"memory"},
      "extern \"C\" __global__ void second_line(float* p0) {\n  store(p0, 1, 0.0f);\n}\n"};
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  std::vector<float> one(1);
  CHECK_THROWS_WITH_AS(launch(module, "second_line", {}, read_write(one)),
                       doctest::Contains("at second_line:2"), EmulationError);
}

TEST_CASE("a launch that the driver would refuse is refused") {
  const codegen::KernelSource kernel{
      "nothing",
      {"memory"},
      "extern \"C\" __global__ void __launch_bounds__(64) nothing(float* p0, int n) {}\n"};
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  std::vector<float> one(1);
  const auto refuses = [&](const char* reason, const LaunchShape& shape) {
    CHECK_THROWS_WITH_AS(launch(module, "nothing", shape, read_write(one), Argument::scalar(1)),
                         doctest::Contains(reason), EmulationError);
  };
  CHECK_NOTHROW(launch(module, "nothing", {}, read_write(one), Argument::scalar(1)));
  refuses("at most 64", {.block = {65, 1, 1}});
  refuses("a grid of (0, 1, 1)", {.grid = {0, 1, 1}});
  refuses("a grid of (1, 65536, 1)", {.grid = {1, 65536, 1}});
  refuses("shared memory", {.shared_bytes = 300'000});
  refuses("clusters of 2", {.grid = {3, 1, 1}, .cluster = 2});
  CHECK_THROWS_WITH_AS(launch(module, "nothing", {}, read_write(one)),
                       doctest::Contains("2 parameters, 1 arguments"), EmulationError);
  CHECK_THROWS_WITH_AS(launch(module, "nothing", {}, read_write(one), Argument::scalar(1.0)),
                       doctest::Contains("8 bytes is given for one of 4"), EmulationError);
  CHECK_THROWS_WITH_AS(launch(module, "nothing", {}, Argument::scalar(1), Argument::scalar(1)),
                       doctest::Contains("a value is given for a pointer"), EmulationError);
}

TEST_CASE("text that does not compile throws with the compiler's log") {
  const codegen::KernelSource kernel{
      "broken", {"memory"}, "extern \"C\" __global__ void broken() { undeclared(); }\n"};
  CHECK_THROWS_WITH_AS(EmulatedModule::compile(std::span(&kernel, 1)),
                       doctest::Contains("undeclared"), CompileError);
}

}  // namespace
}  // namespace heddle::emulator
