#pragma once

#include <string>
#include <vector>

#include "codegen/common/kernel_source.h"

namespace heddle::emulator {

/// Kernels over the device library that the tests of the emulator run and NVRTC compiles.

/// reduction_<op>_<type>_<threads>(p0: [rows, columns], p1: [rows, threads], rows, columns): every
/// one of a row's threads stores the result. A block takes rows_of_block(threads) rows at a time
/// and goes on until none is left.
codegen::KernelSource row_reduction(const std::string& op, const std::string& type, int threads);
constexpr int row_reduction_block(int threads) { return threads < 128 ? 128 : threads; }

/// columns_<op>_<type>_<x>_<threads>(p0: [rows, columns], p1: [threads / x, columns], rows,
/// columns) in blocks of (x, threads / x), two columns a thread: every one of a column's threads
/// stores the result.
codegen::KernelSource column_reduction(const std::string& op, const std::string& type, int x,
                                       int threads);

/// copy_<type>_<width>(p0, p1, n), with a tail.
codegen::KernelSource vector_copy(const std::string& type, int width, bool streaming);

/// transpose_<type>(p0: [rows, columns], p1: [columns, rows], rows, columns) in blocks of (32, 8).
codegen::KernelSource tile_transpose(const std::string& type);

/// exchanges(p0: [n], p1: [7, n]): what every function of section warp gives.
codegen::KernelSource warp_exchanges();

/// whole_sum(p0: [n], p1: [blocks], p2: [1], p3: [1] counter, n): the last block to finish adds the
/// partial sums of all.
codegen::KernelSource whole_sum();

/// cluster_<op>_<type>_<slots>(p0: [blocks, slots, 2], p1: [blocks, 64, 4]) in clusters of 4 blocks
/// of 64 threads: each thread stores its slot's two results over the cluster, and those of the
/// results.
codegen::KernelSource cluster_reduction(const std::string& op, const std::string& type, int slots);

/// All that test files use, for NVRTC; clusters, from sm_90 on, are apart.
std::vector<codegen::KernelSource> kernels_of_every_kind();

}  // namespace heddle::emulator
