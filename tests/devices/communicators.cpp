// Threads with a GPU each, joined by the tests' own NCCL.

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Calls work(rank) on two threads, each with its own GPU. Returns what they threw.
std::vector<std::string> on_two(const std::function<void(int)>& work) {
  std::vector<std::string> failures(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&work, &failures, rank] {
      try {
        set_device("cuda:" + std::to_string(rank));
        work(rank);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return failures;
}

/// An exception, unlike doctest's checks, reaches the thread that waits.
void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

using Values = std::vector<float>;
const std::vector<std::string> no_failures = {"", ""};

runtime::ProcessResult run_with_nccl(const std::string& test_case,
                                     std::vector<std::string> more = {}) {
  more.push_back(std::string("HEDDLE_NCCL=") + HEDDLE_FAKE_NCCL);
  return run_on_fake_gpus(test_case, more);
}

}  // namespace

TEST_CASE("two threads exchange arrays, recorded and in programs") {
  const auto result = run_with_nccl("child: communicators");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: communicators" * doctest::skip()) {
  REQUIRE(is_fake());
  CHECK(Communicator::nccl_version() == 22899);
  const CommunicatorId id = Communicator::new_id();
  CHECK(on_two([&](int rank) {
          const Communicator members(2, id, rank, {.timeout = 60});
          require(members.size() == 2 && members.rank() == rank, "the rank");
          require(members.device() == "cuda:" + std::to_string(rank), "the device");
          const float mine = static_cast<float>(rank + 1);
          const Array x = array({mine, 10 * mine});
          require(distributed::all_reduce(x, members).to_vector<float>() == Values{3, 30}, "sum");
          require(distributed::all_gather(x, members).to_vector<float>() == Values{1, 10, 2, 20},
                  "gathered");
          const auto program = jit([&](const Array& a) {
            distributed::all_reduce(a, members);
            return distributed::broadcast(a, members, 1);
          });
          for (int i = 0; i < 3; ++i)
            require(program(x).to_vector<float>() == Values{2, 20}, "in a program");
          distributed::barrier(members);
          members.check();
        }) == no_failures);
}

TEST_CASE("a member that is missing, or makes other exchanges, is an error") {
  const auto result = run_with_nccl("child: lost members");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: lost members" * doctest::skip()) {
  REQUIRE(is_fake());
  const CommunicatorId lonely = Communicator::new_id();
  check_parts(refusal<CommunicationError>(
                  [&] { const Communicator waits(2, lonely, 0, {.timeout = 0.5}); }),
              {"creation", "'world'", "rank 0 of 2", "0.5 s"});
  CHECK(contains(refusal<ValueError>([&] { const Communicator odd(2, lonely, 2); }), "rank 2"));
  const std::vector<Communicator> both = Communicator::of_devices({"cuda:0", "cuda:1"});
  const std::vector<std::string> said = on_two([&](int rank) {
    const Array x = array({1.0f});
    const Communicator& members = both[static_cast<std::size_t>(rank)];
    if (rank == 0)
      distributed::all_reduce(x, members);
    else
      distributed::all_gather(x, members);
  });
  for (const std::string& each : said) check_parts(each, {"by the communicator 'world' failed"});
  CHECK(contains(refusal<CommunicationError>([&] { both[0].check(); }), "failed"));
}

TEST_CASE("without a GPU, a communicator says so") {
  const auto result = run_child("child: no communicator", {"HEDDLE_DEVICE=cpu"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: no communicator" * doctest::skip()) {
  CHECK(contains(refusal<ValueError>([] { const Communicator one(1, {}, 0); }), "GPUs"));
}
