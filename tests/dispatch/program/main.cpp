// Makes calls that were made before, and prints what each of them took: allocations and locks. They
// are made between two getppid(), so that whoever traces the process can count its system calls.

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace {
bool counting = false;
long allocations = 0, locks = 0;
}  // namespace

// glibc's allocator under its own names; calls of any library arrive here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  allocations += counting ? 1 : 0;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  allocations += counting ? 1 : 0;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  allocations += counting ? 1 : 0;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  allocations += counting ? 1 : 0;
  return __libc_memalign(alignment, size);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks += counting ? 1 : 0;
  return lock(mutex);
}
}

namespace {

constexpr int warm_calls = 50, calls = 100;

hd::Array ramp() { return hd::arange<float>(1024).eval(); }

const std::map<std::string, std::function<std::function<void()>()>> cases = {
    {"one kernel",
     [] {
       const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) { return x * y + x; });
       return [f, x = ramp(), y = ramp()] { f(x, y); };
     }},
    {"new scalar",
     [] {
       const auto f = hd::jit([](const hd::Array& x, const hd::Array& a) { return x * a; });
       return [f, x = ramp(), a = 1.0]() mutable { f(x, a += 1); };
     }},
    {"donated",
     [] {
       const auto f = hd::jit([](const hd::Array& x, const hd::Array& y) { return x * 2.0f + y; });
       return [f, x = ramp() * 0.0f, y = ramp()]() mutable { x = f(std::move(x), y); };
     }},
    {"lazy", [] { return [x = ramp()] { (hd::sin(x) * 2.0f + x).eval(); }; }},
};

}  // namespace

int main(int, char** words) {
  const std::function<void()> call = cases.at(words[1])();
  for (int i = 0; i < warm_calls; ++i) call();
  hd::synchronize();
  syscall(SYS_getppid);
  counting = true;
  for (int i = 0; i < calls; ++i) call();
  counting = false;
  syscall(SYS_getppid);
  std::printf("%ld %ld\n", allocations, locks);
}
