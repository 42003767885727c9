// A library that takes a while to end. The system ends it after those that were opened before it,
// and meanwhile threads may use what these have left.

#include <chrono>
#include <thread>

__attribute__((destructor)) static void end() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}
