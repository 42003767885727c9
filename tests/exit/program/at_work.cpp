// Ends with status 7 while threads evaluate and work is pending: `thread` in one of these threads,
// `main` in the main one, `compiling` while programs are compiled. The second word is how many
// milliseconds to work before, the third a library that is opened then and takes a while to end.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <vector>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

constexpr int status = 7, evaluating_threads = 6;

constexpr int no_library = 8;

std::atomic<bool> ends{false};
const char* slow_library = nullptr;

[[noreturn]] void end_process() {
  std::exit(dlopen(slow_library, RTLD_NOW) != nullptr ? status : no_library);
}

void work(bool ends_here, bool compiles) {
  const hd::Array x = hd::arange(5000.0f).eval();
  const hd::Array matrix = hd::arange(256.0f).reshape({16, 16}).eval();
  thread_local hd::Array kept = x;
  for (int i = 0;; ++i) {
    if (ends_here && ends) end_process();
    kept = hd::sin(x) * 2.0f + kept(0);
    hd::sum(hd::sort(kept)).eval();
    hd::matmul(matrix, matrix).eval();
    if (compiles)
      hd::jit([&](const hd::Array& a) { return hd::tanh(a) * static_cast<float>(i); })(x);
  }
}

}  // namespace

int main(int, char** words) {
  const bool in_thread = std::strcmp(words[1], "thread") == 0;
  const bool compiles = std::strcmp(words[1], "compiling") == 0;
  slow_library = words[3];
  std::vector<std::thread> threads;
  for (int t = 0; t < evaluating_threads; ++t)
    threads.emplace_back(work, in_thread && t == 0, compiles);
  // Pending when it dies with the other statics.
  static hd::Array last = hd::arange(1000.0f) + 1.0f;
  static const auto function = hd::jit([](const hd::Array& a) { return a + last; });
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(words[2])));
  ends = true;
  if (!in_thread) end_process();
  for (std::thread& thread : threads) thread.join();
}
