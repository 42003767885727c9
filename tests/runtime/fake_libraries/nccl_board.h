#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>

#include "ir/types/element.h"

/// The memory that the members of a group of the fake NCCL share, and how they exchange bytes by
/// it.
namespace fake_nccl {

enum Status {
  success = 0,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7
};

constexpr int most_members = 4;
constexpr std::size_t chunk = 1 << 16;

/// What an exchange is: members whose headers differ have made other calls.
struct Header {
  std::uint64_t kind = 0, count = 0;
  std::int64_t type = 0, operation = 0, root = 0;
  friend bool operator==(const Header&, const Header&) = default;
};

/// Memory that one member fills, and others read before it is filled anew.
struct Slot {
  std::atomic<std::uint64_t> filled;
  std::atomic<std::uint64_t> read[most_members];
  Header header;
  char bytes[chunk];
};

struct Memory {
  std::atomic<int> members;
  std::atomic<std::uint64_t> rounds[most_members];
  Slot slots[most_members];
  Slot mail[most_members][most_members];  ///< by sender and receiver
};

using Stopped = std::function<bool()>;

class Board {
 public:
  /// The memory of the group with this number. Null if there is none.
  static std::shared_ptr<Board> open(const char* number, int size);
  Board(Memory* memory, int size, const char* name);
  ~Board();

  /// Waits until all members have come.
  int join(int rank, const Stopped& stopped);
  /// Gives bytes to all members, and take(rank, offset, bytes, count) those of each, by its rank.
  int exchange(int rank, const Header& header, const char* from, std::size_t count,
               const std::function<void(int, std::size_t, const char*, std::size_t)>& take,
               const Stopped& stopped);
  int send(int from_rank, int to_rank, const char* from, std::size_t count, const Stopped& stopped);
  int receive(int from_rank, int to_rank, char* to, std::size_t count, const Stopped& stopped);

 private:
  Memory* memory_;
  int size_;
  std::string name_;
};

/// Of NCCL's element types.
std::size_t bytes_of(int type);
/// to = to operation part; to = part if it is the first.
void reduce(char* to, const char* part, std::size_t bytes, int type, int operation, bool first);

}  // namespace fake_nccl
