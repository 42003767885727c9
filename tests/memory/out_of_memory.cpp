// What OutOfMemory says, and what holds after it: on whatever device there is, under a limit, and
// on a GPU of the fake driver, which has 256 MiB and no more.

#include <string>
#include <vector>

#include "heddle/error.h"

#include "runtime/device/stream.h"
#include "tests/memory/pool_watch.h"

namespace runtime = heddle::runtime;
using namespace hd::test;

namespace {

std::int64_t floats_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / sizeof(float));
}

/// "  4194304 bytes: float32[1048576] of main (out_of_memory.cpp:30)": the line of a listed block.
std::string listed(std::size_t bytes, const std::string& what, int line) {
  return "  " + std::to_string(bytes) + " bytes: " + what + " (" + __FILE__ + ":" +
         std::to_string(line) + ")\n";
}

template <class Function>
std::string out_of_memory(const Function& function) {
  try {
    function();
  } catch (const hd::OutOfMemory& failure) {
    return failure.what();
  }
  FAIL("there was memory");
  return {};
}

void check_listed(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = text.find("Largest blocks:\n");
  REQUIRE(at != std::string::npos);
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    CHECK_MESSAGE(found != std::string::npos, "'" << part
                                                  << "' is not there, or not in order, in:\n"
                                                  << text);
    if (found != std::string::npos) at = found;
  }
}

/// `room`: bytes that can be had.
void check_text_and_recovery(std::size_t room) {
  const hd::Array a = hd::full({floats_of(room / 4)}, 2.0f).eval();
  const int line_of_a = __LINE__ - 1;
  const std::vector<std::int64_t> fives(room / 64, 5);
  const hd::Array b = hd::array(fives, {2, static_cast<std::int64_t>(room / 128)});
  const int line_of_b = __LINE__ - 1;
  const auto half = hd::jit([](const hd::Array& x) { return x / 2; });
  const int line_of_half = __LINE__ - 1;
  const hd::Array c = half(hd::full({floats_of(room / 16)}, 8.0f).eval());
  const hd::Array pending = a(hd::slice(0, 100)) + 1;
  const std::size_t in_use = pool().statistics().in_use;

  for (int again = 0; again < 2; ++again) {
    const hd::Array large = hd::full({3, floats_of(room / 2)}, 1.0f);
    const int line_of_large = __LINE__ - 1;
    const std::string text = out_of_memory([&] { large.eval(); });
    CHECK_MESSAGE(
        text.find("cannot allocate " + std::to_string(3 * (room / 2)) + " bytes (float32[3," +
                  std::to_string(floats_of(room / 2)) + "] of main (" + __FILE__ + ":" +
                  std::to_string(line_of_large)) != std::string::npos,
        text);
    check_listed(text,
                 {listed(room / 4, "float32[" + std::to_string(floats_of(room / 4)) + "] of main",
                         line_of_a),
                  listed(room / 8, "int64[2," + std::to_string(room / 128) + "]", line_of_b),
                  listed(room / 16, "float32[" + std::to_string(floats_of(room / 16)) + "] of main",
                         line_of_half)});
    CHECK(pool().statistics().in_use == in_use);
    pool().verify();
  }
  const hd::Array sum = (pending + a(hd::slice(0, 100))).eval();
  if (!computes()) return;
  CHECK(sum(99).item<float>() == 5);
  CHECK(hd::max(b).item<int>() == 5);
  CHECK(hd::min(c).item<float>() == 4);
}

/// Memory that others keep for later, and that another stream still reads, is not missed.
void check_second_try(std::size_t room) {
  const runtime::Device device = runtime::current_device();
  const runtime::Stream own = runtime::Stream::current(device),
                        other = runtime::Stream::create(device),
                        third = runtime::Stream::create(device);
  {
    const runtime::BufferRef kept = runtime::allocate(room / 4, other),
                             read = runtime::allocate(room / 4, third);
    const runtime::BufferRef copy = runtime::allocate(room / 4, own);
    runtime::copy(copy->pointer(), device, read->pointer(), device, room / 4, own);
    read->used_on(own);
  }
  const hd::Array large = hd::full({floats_of(room / 16 * 15)}, 3.0f).eval();
  if (computes()) CHECK(hd::sum(large(hd::slice(0, 10))).item<float>() == 30);
}

/// The line of an array that took over another's memory is that of what it holds now.
void check_line_of_reused_memory(std::size_t room) {
  hd::Array a = hd::full({floats_of(room / 4)}, 2.0f).eval();
  const std::uint64_t allocations = pool().statistics().allocations;
  a = a * 2 + 1;
  const int line = __LINE__ - 1;
  a.eval();
  CHECK(pool().statistics().allocations == allocations);
  const std::string text = out_of_memory([&] { hd::full({floats_of(2 * room)}, 1.0f).eval(); });
  check_listed(
      text,
      {listed(room / 4, "float32[" + std::to_string(floats_of(room / 4)) + "] of main", line)});
}

/// Temporaries are listed as well, by the statement that they work for.
void check_request_of_temporaries(std::size_t room) {
  const hd::Array a = hd::full({floats_of(room / 8 * 3)}, 2.0f).eval();
  const hd::Array least = hd::sort(a * 2)(hd::slice(0, 10));
  const std::string where = "temporaries of main (" __FILE__ ":" + std::to_string(__LINE__ - 1);
  const std::string text = out_of_memory([&] { least.eval(); });
  CHECK_MESSAGE(text.find(where) != std::string::npos, text);
}

void check_all(std::size_t room) {
  check_text_and_recovery(room);
  check_second_try(room);
  check_line_of_reused_memory(room);
  check_request_of_temporaries(room);
}

}  // namespace

TEST_CASE("out of memory under a limit") {
  constexpr std::size_t room = 32 * mib;
  const LimitScope limit(room);
  check_all(room);
}

TEST_CASE("out of memory on a GPU of the fake driver") {
  CHECK(passes_on_fake_gpu("child: out of memory"));
}

TEST_CASE("child: out of memory" * doctest::skip()) {
  REQUIRE(hd::device() == "cuda:0");
  check_all(256 * mib);
}

TEST_CASE("a request for more memory than the system has fails on the CPU") {
  if (hd::device() != "cpu") return;
  const std::string text =
      out_of_memory([] { hd::full({std::int64_t{1} << 40}, 1.0f).eval(); });  // 4 TiB
  CHECK_MESSAGE(text.find("cpu cannot allocate 4398046511104 bytes") != std::string::npos, text);
  CHECK(hd::sum(hd::ones<float>({10})).item<float>() == 10);
}
