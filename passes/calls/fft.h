#pragma once

#include <optional>
#include <vector>

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The radices, in order, of a transform of `length` elements as one item; nullopt if it has prime
/// factors beyond 13. Of 1 element: no radices.
std::optional<std::vector<int>> fft_radices(std::int64_t length, const ir::Target& target);
/// The same for a transform of real numbers by `length` complex ones, whose last radix is below 16.
std::optional<std::vector<int>> rfft_radices(std::int64_t length, const ir::Target& target);
/// Whether so many complex numbers of this dtype, or of this part, fit into an item's memory.
bool fits_item(std::int64_t numbers, DType dtype, const ir::Target& target);
/// Whether a transform of so many numbers can be computed by stages over all of them. On the CPU, a
/// longer one that fits an item is split within the item.
bool fits_stages(std::int64_t numbers, DType dtype, const ir::Target& target);
/// Whether a transform of this length is one item. Lengths with large prime factors take more
/// memory than others.
bool is_item_length(std::int64_t length, DType dtype, const ir::Target& target);

/// Whether a transform of so many real numbers is one item.
bool is_real_item_length(std::int64_t length, DType dtype, const ir::Target& target);
/// Whether a transform, of complex or of real numbers, is longer than an item, but each half of its
/// result, the even and the odd elements, is one of a block's that reads all of the operand.
bool is_half_length(std::int64_t length, DType dtype, const ir::Target& target);
bool is_real_half_length(std::int64_t length, DType dtype, const ir::Target& target);

/// The least product of 2, 3 and 5 of at least `least`.
std::int64_t least_smooth(std::int64_t least);
/// The length of a convolution that transforms n numbers: the product of 2, 3 and 5 from 2 n - 1 on
/// whose transform takes the fewest operations.
std::int64_t convolution_length(std::int64_t n, const ir::Target& target);

/// Splits a transform that is too long for one item into two sets of shorter ones: of n1 columns,
/// then of n2 rows (Bailey, FFTs in external or hierarchical memory, 1990). One with a large prime
/// factor becomes a convolution.
std::vector<ValueId> lower_fft(Graph& graph, const OldCall& call, const ir::Target& target);
/// Replaces a transform of real numbers by one of complex numbers, unless it is one item.
std::vector<ValueId> lower_rfft(Graph& graph, const OldCall& call, const ir::Target& target);
std::vector<ValueId> lower_irfft(Graph& graph, const OldCall& call, const ir::Target& target);

std::optional<ItemCall> fft_item(const Graph& graph, ValueId call, const ir::Target& target);
std::optional<ItemCall> rfft_item(const Graph& graph, ValueId call, const ir::Target& target);
std::optional<ItemCall> irfft_item(const Graph& graph, ValueId call, const ir::Target& target);

/// 5 n log2(n), or half of it for real numbers, as is usual for comparisons.
Dim fft_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
