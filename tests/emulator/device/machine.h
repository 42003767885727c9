// What an emulated kernel and the emulator share. Included by both, so it includes nothing.
#pragma once

namespace heddle_emulator {

struct Extent3 {
  unsigned int x, y, z;
};

/// Where in a kernel's text something happens; `file` is the kernel's or a section's name.
struct Place {
  const char* file;
  int line;
};

/// A kernel sees parameter k's buffer at an address of its own, far from all others, so that every
/// access can be told to belong to it: base >> address_bits is k + 1.
constexpr int address_bits = 40;

/// Who last touched a piece of global memory. Threads count from 1 over the whole grid.
struct GlobalStamp {
  unsigned int writer, write_time;
  /// A thread, or several_readers | block, or many_blocks.
  unsigned int reader, read_time;
};
constexpr unsigned int several_readers = 0x80000000u;
constexpr unsigned int many_blocks = 0xffffffffu;
constexpr unsigned int atomic_writer = 0xfffffffeu;
constexpr unsigned int written_before_launch = 0xfffffffdu;

struct GlobalBuffer {
  unsigned long long base;
  unsigned char* memory;
  long long bytes;
  GlobalStamp* stamps;  ///< one for each 1 << stamp_shift bytes; null when nothing writes here
  int stamp_shift;
  bool writable;
  bool undefined;  ///< its old contents mean nothing: a read before a write is a fault
  long long loaded_bytes, stored_bytes;
};

/// Who last touched a byte of shared memory: time << 16 | thread, threads counting from 1 over the
/// cluster. As readers, and as writers by atomics, also several_lanes | warp, or many_warps.
struct SharedStamp {
  unsigned long long write, read;
};
constexpr unsigned int several_lanes = 0x8000u;
constexpr unsigned int many_warps = 0xffffu;

struct SharedMemory {
  unsigned char* memory;
  SharedStamp* stamps;
  int bytes;
};

enum class ExchangeKind : int { index, down, up, exclusive_or, ballot, barrier };

/// One lane's part in a warp's exchange. `in` and `out` stay valid until the lane returns.
struct Exchange {
  ExchangeKind kind;
  int width;
  int operand;  ///< lane, delta or mask
  int bytes;
  const void* in;
  void* out;
  Place place;
};

enum class FaultKind : int {
  stray_pointer,
  global_out_of_range,
  global_misaligned,
  global_read_only,
  global_undefined,
  global_race,
  shared_out_of_range,
  shared_misaligned,
  shared_undefined,
  shared_race,
  cluster_rank,
  exchange_bytes,  ///< `offset` bytes of an exchange are missing, or came too many
  never_set
};

struct Fault {
  FaultKind kind;
  const char* operation;
  Place place;
  bool write;
  long long address;   ///< stray_pointer: the pointer; cluster_rank: the rank
  int buffer;          ///< parameter's number among the pointers
  long long offset;    ///< bytes from the start of the buffer or of shared memory
  int bytes;           ///< of the access
  int element_bytes;   ///< of one element
  int alignment;       ///< that the access needs
  unsigned int other;  ///< races: the stamp's thread
};

/// The state of the thread that runs now, kept by the emulator, and the way back into it.
struct Machine {
  Extent3 thread_index, block_index, block_extent, grid_extent;
  int cluster_rank;

  GlobalBuffer* buffers;
  unsigned int buffer_count;
  unsigned int global_thread;  ///< as in GlobalStamp
  unsigned int time;           ///< steps at every barrier, block and fence

  SharedMemory shared;               ///< of this thread's block
  unsigned int cluster_thread;       ///< as in SharedStamp
  unsigned long long first_stamp;    ///< shared memory stamped before was not written by this block
  unsigned long long ordered_stamp;  ///< accesses stamped before are ordered, whoever made them

  void (*block_barrier)(Place);
  void (*cluster_barrier)(Place);
  void (*exchange)(const Exchange&);
  void (*await_opening)(Place);  ///< of any gate of the block
  void (*note_opening)();
  /// Whether what `thread` did at `time` is ordered before this thread by barriers or fences.
  bool (*global_ordered)(unsigned int thread, unsigned int time);
  /// The same of memory of this thread's block (`own`) or of another of its cluster.
  bool (*shared_ordered)(unsigned long long stamp, bool own);
  SharedMemory (*shared_of_rank)(int rank, Place);
  void (*note_atomic)();
  void (*note_wait)();  ///< a flag was seen that another block set
  void (*device_fence)();
  unsigned int (*merge_readers)(unsigned int reader);
  void (*fail)(const Fault&);  ///< does not return
};

struct ParameterInfo {
  int bytes;
  int element_bytes;  ///< pointers: of what it points to; else 0
  bool is_const;      ///< pointers: to const
};

struct KernelEntry {
  const char* name;
  void (*call)(void* const* arguments);
  const ParameterInfo* parameters;
  int parameter_count;
};

/// What a compiled batch exports, as `heddle_emulator_module`.
struct ModuleTable {
  Machine* machine;
  const KernelEntry* kernels;
  int kernel_count;
};

}  // namespace heddle_emulator
