// Memory and events that two processes use, on fake GPUs, and access of one GPU to the other's
// memory.
#include <cstdlib>

#include "heddle/ipc.h"

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  REQUIRE(value != nullptr);
  return value;
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string from_hexadecimal(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

const std::vector<float> elements = {1, 2, 3, 4, 5, 6};

}  // namespace

TEST_CASE("child: opens memory" * doctest::skip()) {
  REQUIRE(is_fake());
  const Event ready = Event::from_ipc_handle(from_hexadecimal(variable("HEDDLE_TEST_EVENT")));
  Stream::current().wait(ready);
  const std::string handle = variable("HEDDLE_TEST_HANDLE");
  const std::uint64_t closed = control().calls("cuIpcCloseMemHandle");
  {
    const Array x = open_shared_memory(handle), again = open_shared_memory(handle);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.to_vector<float>() == elements);
    CHECK(again.to_vector<float>() == elements);
    ready.synchronize();
    CHECK(ready.done());
    CHECK(refusal<DeviceError>([&] { share_memory(x); }).find("no handle") != std::string::npos);
  }
  CHECK(control().calls("cuIpcCloseMemHandle") == closed + 2);
}

TEST_CASE("child: sharing" * doctest::skip()) {
  REQUIRE(is_fake());
  const Array x = array(elements, {2, 3});
  const SharedMemory shared = share_memory(x);
  Event ready({.timed = false, .interprocess = true});
  ready.record();
  ready.synchronize();
  const auto other =
      run_child("child: opens memory", {"HEDDLE_TEST_HANDLE=" + shared.handle,
                                        "HEDDLE_TEST_EVENT=" + hexadecimal(ready.ipc_handle())});
  CHECK_MESSAGE(other.status == 0, other.output);
  check_parts(refusal<DeviceError>([&] { open_shared_memory(shared.handle); }),
              {"is this process"});
  check_parts(refusal<ValueError>([] { open_shared_memory("heddle-memory-1"); }), {"no handle"});
  check_parts(refusal<ValueError>([] { share_memory(zeros({0, 2})); }), {"without elements"});
  check_parts(refusal<DeviceError>([] { static_cast<void>(Event().ipc_handle()); }),
              {"interprocess"});
  static_cast<void>(jit([](const Array& a) {
    CHECK_THROWS_AS(share_memory(a), TraceError);
    return a;
  })(x));
  const DeviceScope cpu("cpu");
  check_parts(refusal<DeviceError>([] { share_memory(ones({2})); }),
              {"shared memory of the system"});
}

TEST_CASE("two processes share memory and events of a GPU") {
  const auto result = run_on_fake_gpus("child: sharing", {"HEDDLE_FAKE_IPC=1"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: peers" * doctest::skip()) {
  REQUIRE(is_fake());
  CHECK(can_access_peer("cuda:0", "cuda:1"));
  CHECK(enable_peer_access("cuda:0", "cuda:1"));
  CHECK(enable_peer_access("cuda:0", "cuda:1"));
  CHECK(enable_peer_access("cuda:1", "cuda:1"));
  CHECK_FALSE(enable_peer_access("cuda:0", "cpu"));
  disable_peer_access("cuda:0", "cuda:1");
  disable_peer_access("cuda:0", "cuda:1");
  constexpr int already_enabled = 704, failure = 400;
  control().fail("cuCtxEnablePeerAccess", already_enabled, 0);
  CHECK_MESSAGE(enable_peer_access("cuda:0", "cuda:1"), "another library has enabled it");
  control().fail("cuCtxEnablePeerAccess", failure, 0);
  CHECK_THROWS_AS(enable_peer_access("cuda:1", "cuda:0"), DeviceError);
  CHECK_MESSAGE(enable_peer_access("cuda:1", "cuda:0"), "it is asked for again");
}

TEST_CASE("a GPU is given access to the other's memory once") {
  const auto result = run_on_fake_gpus("child: peers", {"HEDDLE_FAKE_PEERS=1"});
  CHECK_MESSAGE(result.status == 0, result.output);
}
