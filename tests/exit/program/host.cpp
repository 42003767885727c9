// Opens the library that the first word names, computes in it and closes it, three times; forks
// when it is closed; and ends. Prints what was computed.

#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void compute(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::printf("%s\n", dlerror());
    return;
  }
  const auto function = reinterpret_cast<double (*)()>(dlsym(handle, "plugin_compute"));
  std::printf("%g\n", function());
  dlclose(handle);
}

}  // namespace

int main(int, char** words) {
  for (int i = 0; i < 3; ++i) {
    std::thread([&] { compute(words[1]); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    compute(words[1]);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
