#include "tests/runtime/fake_libraries/nccl_board.h"

#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "ir/types/scalar.h"

namespace fake_nccl {

namespace {

using heddle::DType;

constexpr DType dtypes[] = {DType::i8,  DType::u8,  DType::i32, DType::u32, DType::i64,
                            DType::u64, DType::f16, DType::f32, DType::f64, DType::bf16};

/// False if the member stopped waiting.
template <class Done>
bool wait(const Stopped& stopped, const Done& done) {
  while (!done()) {
    if (stopped()) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

template <class T>
T reduced(T a, T b, int operation) {
  switch (operation) {
    case 0:
      return static_cast<T>(a + b);
    case 1:
      return static_cast<T>(a * b);
    case 2:
      return a < b ? b : a;
    default:
      return b < a ? b : a;
  }
}

template <class T, class Wide>
void reduce_as(char* to, const char* part, std::size_t bytes, int operation) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof(T));
    std::memcpy(&b, part + at, sizeof(T));
    const T result = heddle_scalar::cast<T>(
        reduced(heddle_scalar::cast<Wide>(a), heddle_scalar::cast<Wide>(b), operation));
    std::memcpy(to + at, &result, sizeof(T));
  }
}

}  // namespace

std::shared_ptr<Board> Board::open(const char* number, int size) {
  if (size > most_members) return nullptr;
  const std::string name = std::string("/heddle-fake-nccl-") + number;
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0) return nullptr;
  if (ftruncate(file, sizeof(Memory)) != 0) return close(file), nullptr;
  void* const memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return std::make_shared<Board>(static_cast<Memory*>(memory), size, name.c_str());
}

Board::Board(Memory* memory, int size, const char* name)
    : memory_(memory), size_(size), name_(name) {}

Board::~Board() { munmap(memory_, sizeof(Memory)); }

int Board::join(int rank, const Stopped& stopped) {
  ++memory_->members;
  const bool all = wait(stopped, [&] { return memory_->members >= size_; });
  if (rank == 0 || !all) shm_unlink(name_.c_str());
  return success;
}

int Board::exchange(int rank, const Header& header, const char* from, std::size_t count,
                    const std::function<void(int, std::size_t, const char*, std::size_t)>& take,
                    const Stopped& stopped) {
  std::uint64_t& round = *reinterpret_cast<std::uint64_t*>(&memory_->rounds[rank]);
  for (std::size_t offset = 0; offset < count; offset += chunk) {
    const std::size_t part = std::min(chunk, count - offset);
    ++round;
    Slot& own = memory_->slots[rank];
    std::memcpy(own.bytes, from + offset, part);
    own.header = header;
    own.filled = round;
    for (int other = 0; other < size_; ++other) {
      Slot& slot = memory_->slots[other];
      if (!wait(stopped, [&] { return slot.filled >= round; })) return success;
      if (!(slot.header == header)) return invalid_usage;
      take(other, offset, slot.bytes, part);
      slot.read[rank] = round;
    }
    // The slot may be filled anew once all have read it.
    for (int other = 0; other < size_; ++other)
      if (!wait(stopped, [&] { return own.read[other] >= round; })) return success;
  }
  return success;
}

int Board::send(int from_rank, int to_rank, const char* from, std::size_t count,
                const Stopped& stopped) {
  Slot& slot = memory_->mail[from_rank][to_rank];
  for (std::size_t offset = 0; offset < count; offset += chunk) {
    if (!wait(stopped, [&] { return slot.read[0] == slot.filled; })) return success;
    std::memcpy(slot.bytes, from + offset, std::min(chunk, count - offset));
    slot.header = {.count = count};
    ++slot.filled;
  }
  return success;
}

int Board::receive(int from_rank, int to_rank, char* to, std::size_t count,
                   const Stopped& stopped) {
  Slot& slot = memory_->mail[from_rank][to_rank];
  for (std::size_t offset = 0; offset < count; offset += chunk) {
    if (!wait(stopped, [&] { return slot.read[0] < slot.filled; })) return success;
    if (slot.header.count != count) return invalid_usage;
    std::memcpy(to + offset, slot.bytes, std::min(chunk, count - offset));
    ++slot.read[0];
  }
  return success;
}

std::size_t bytes_of(int type) { return heddle::size_of(dtypes[type]); }

void reduce(char* to, const char* part, std::size_t bytes, int type, int operation, bool first) {
  if (first) return void(std::memcpy(to, part, bytes));
  switch (dtypes[type]) {
    case DType::i8:
      return reduce_as<std::int8_t, std::int8_t>(to, part, bytes, operation);
    case DType::u8:
      return reduce_as<std::uint8_t, std::uint8_t>(to, part, bytes, operation);
    case DType::i32:
      return reduce_as<std::int32_t, std::int32_t>(to, part, bytes, operation);
    case DType::u32:
      return reduce_as<std::uint32_t, std::uint32_t>(to, part, bytes, operation);
    case DType::i64:
      return reduce_as<std::int64_t, std::int64_t>(to, part, bytes, operation);
    case DType::u64:
      return reduce_as<std::uint64_t, std::uint64_t>(to, part, bytes, operation);
    case DType::f16:
      return reduce_as<heddle_scalar::half, float>(to, part, bytes, operation);
    case DType::bf16:
      return reduce_as<heddle_scalar::bfloat16, float>(to, part, bytes, operation);
    case DType::f32:
      return reduce_as<float, float>(to, part, bytes, operation);
    default:
      return reduce_as<double, double>(to, part, bytes, operation);
  }
}

}  // namespace fake_nccl
