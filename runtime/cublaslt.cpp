#include "runtime/cublaslt.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "runtime/cache/store.h"
#include "runtime/cublaslt_abi.h"
#include "runtime/dynamic_library.h"
#include "runtime/log.h"

namespace heddle::runtime::cublaslt {

namespace {

struct Loaded {
  Api api;
  std::string reason;
};

std::string load(Loaded& out) {
  if (!cuda::available()) return cuda::unavailable_reason();
  LibraryReport report;
  const auto library = DynamicLibrary::open({.title = "cuBLASLt",
                                             .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
                                             .packages = {"cublas"},
                                             .variable = "HEDDLE_CUBLASLT"},
                                            &report);
  if (!library) {
    return report.text() +
           "Install cuBLAS 12 or newer (pip install nvidia-cublas), or set HEDDLE_CUBLASLT to its "
           "file or HEDDLE_CUDA_PATH to the toolkit.";
  }
  std::string missing;
#define HEDDLE_CUBLASLT(name) library->bind(out.api.name, #name, missing)
  HEDDLE_CUBLASLT(cublasLtCreate);
  HEDDLE_CUBLASLT(cublasLtGetVersion);
  HEDDLE_CUBLASLT(cublasLtGetStatusString);
  HEDDLE_CUBLASLT(cublasLtMatmulDescCreate);
  HEDDLE_CUBLASLT(cublasLtMatmulDescDestroy);
  HEDDLE_CUBLASLT(cublasLtMatmulDescSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutCreate);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutDestroy);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceCreate);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceDestroy);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatmulAlgoGetHeuristic);
  HEDDLE_CUBLASLT(cublasLtMatmulAlgoCheck);
  HEDDLE_CUBLASLT(cublasLtMatmul);
#undef HEDDLE_CUBLASLT
  if (missing.empty()) return {};
  return fmt::format("{} is too old: it lacks{}", library->path(), missing);
}

const Loaded& loaded() {
  static const auto* const instance = [] {
    auto* made = new Loaded;
    made->reason = load(*made);
    return made;
  }();
  return *instance;
}

const Api& api() { return loaded().api; }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: {} ({})", call, api().cublasLtGetStatusString(status),
                                static_cast<int>(status)));
}

/// That the library does not do what it is asked for, rather than failing at it.
bool refuses(Status status) {
  return status == Status::not_supported || status == Status::invalid_value ||
         status == Status::arch_mismatch;
}

/// One a GPU, for any number of threads; null where the library does not start. Never destroyed, as
/// the driver may be gone by then.
Handle handle_of(int ordinal) {
  static auto* const mutex = new std::mutex;
  static auto* const handles = new std::map<int, Handle>;
  const std::lock_guard lock(*mutex);
  Handle& handle = (*handles)[ordinal];
  if (handle != nullptr) return handle;
  const Status status = api().cublasLtCreate(&handle);
  if (status == Status::success) return handle;
  log().info("cublasLtCreate failed: {}", api().cublasLtGetStatusString(status));
  return handle = nullptr;
}

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return DataType::f64;
    case DType::f16:
      return DataType::f16;
    case DType::bf16:
      return DataType::bf16;
    default:
      return DataType::f32;
  }
}

/// All that an algorithm is chosen by. Without padding: compared and hashed as bytes.
struct Problem {
  std::int64_t rows, columns, depth, batch, a_leading, b_leading;
  std::int64_t a_stride, b_stride, out_stride;
  std::int32_t ordinal, operand_type, type, compute, a_transposed, b_transposed;
  std::uint32_t epilogue, residual;
  std::uint32_t a_alignment, b_alignment, residual_alignment, out_alignment;

  friend bool operator==(const Problem& a, const Problem& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  /// All but the number of the GPU, which another process may count differently.
  std::string text() const {
    return fmt::format(
        "{}x{}x{} batch {} leading {} {} strides {} {} {} types {} {} compute {} "
        "transposed {} {} epilogue {} residual {} alignment {} {} {} {}",
        rows, columns, depth, batch, a_leading, b_leading, a_stride, b_stride, out_stride,
        operand_type, type, compute, a_transposed, b_transposed, epilogue, residual, a_alignment,
        b_alignment, residual_alignment, out_alignment);
  }
};
static_assert(std::has_unique_object_representations_v<Problem>);

struct ProblemHasher {
  std::size_t operator()(const Problem& problem) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&problem), sizeof problem});
  }
};

/// What the address is a multiple of, up to what any kernel asks for.
std::uint32_t alignment_of(const void* pointer) {
  constexpr int widest = 4;
  return 1u << std::min(widest, std::countr_zero(reinterpret_cast<std::uintptr_t>(pointer)));
}

ComputeType compute_type(const Gemm& p) {
  if (p.dtype == DType::f64) return ComputeType::f64;
  const bool chooses = has_precisions(p.operand_dtype()) && p.precision != Precision::ieee;
  if (!chooses) return ComputeType::f32;
  return p.precision == Precision::bf16 ? ComputeType::f32_as_bf16 : ComputeType::f32_as_tf32;
}

std::uint32_t epilogue_bits(const GemmEpilogue& epilogue) {
  std::uint32_t bits = epilogue.bias != nullptr ? epilogues::bias : 0;
  if (epilogue.activation == passes::Activation::relu) bits |= epilogues::relu;
  if (epilogue.activation == passes::Activation::gelu) bits |= epilogues::gelu;
  return bits == 0 ? epilogues::none : bits;
}

Problem problem_of(const Gemm& p, const GemmEpilogue& epilogue, const void* a, const void* b,
                   const void* out, int ordinal) {
  Problem problem{};
  problem.rows = p.rows;
  problem.columns = p.columns;
  problem.depth = p.depth;
  problem.batch = p.batch;
  problem.a_leading = p.a_leading;
  problem.b_leading = p.b_leading;
  problem.a_stride = p.a_batch_stride;
  problem.b_stride = p.b_batch_stride;
  problem.out_stride = p.out_batch_stride;
  problem.ordinal = ordinal;
  problem.operand_type = static_cast<int>(data_type(p.operand_dtype()));
  problem.type = static_cast<int>(data_type(p.dtype));
  problem.compute = static_cast<int>(compute_type(p));
  problem.a_transposed = p.a_transposed ? 1 : 0;
  problem.b_transposed = p.b_transposed ? 1 : 0;
  problem.epilogue = epilogue_bits(epilogue);
  problem.residual = epilogue.residual == nullptr ? 0 : epilogue.residual == out ? 2 : 1;
  problem.a_alignment = alignment_of(a);
  problem.b_alignment = alignment_of(b);
  problem.out_alignment = alignment_of(out);
  problem.residual_alignment = problem.out_alignment;
  if (epilogue.residual != nullptr) problem.residual_alignment = alignment_of(epilogue.residual);
  // The bias is read in vectors as wide as the result's.
  if (epilogue.bias != nullptr)
    problem.out_alignment = std::min(problem.out_alignment, alignment_of(epilogue.bias));
  return problem;
}

template <class Pointer>
struct Destroy {
  using pointer = Pointer;
  void operator()(Layout layout) const { api().cublasLtMatrixLayoutDestroy(layout); }
  void operator()(Operation operation) const { api().cublasLtMatmulDescDestroy(operation); }
  void operator()(Preference preference) const {
    api().cublasLtMatmulPreferenceDestroy(preference);
  }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<Pointer>>;

/// A matrix as columns of `rows` elements, `leading` apart.
Owned<Layout> make_layout(int type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                          std::int64_t batch, std::int64_t stride) {
  Layout made = nullptr;
  check(api().cublasLtMatrixLayoutCreate(&made, DataType(type), static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
  Owned<Layout> layout(made);
  if (batch == 1) return layout;
  const auto set = [&](LayoutAttribute attribute, const auto& value) {
    check(api().cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  };
  if (batch > std::numeric_limits<std::int32_t>::max())
    throw DeviceError(fmt::format("cuBLASLt takes up to 2^31 - 1 matrices, not {}", batch));
  set(LayoutAttribute::batch_count, static_cast<std::int32_t>(batch));
  set(LayoutAttribute::strided_batch_offset, stride);
  return layout;
}

/// A problem in the library's words. It counts columns first: it sees every matrix transposed, and
/// out^T = b^T a^T, whose rows, along which its bias lies, are our columns.
struct Description {
  Owned<Operation> operation;
  Owned<Layout> a, b, residual, out;
};

Description describe(const Problem& p, const void* bias) {
  Operation made = nullptr;
  const bool wide = ComputeType(p.compute) == ComputeType::f64;
  check(api().cublasLtMatmulDescCreate(&made, ComputeType(p.compute),
                                       wide ? DataType::f64 : DataType::f32),
        "cublasLtMatmulDescCreate");
  Description result{Owned<Operation>(made), {}, {}, {}, {}};
  const auto set = [&](OperationAttribute attribute, const auto& value) {
    check(api().cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  const auto transpose = [](bool is) { return is ? Transpose::transpose : Transpose::none; };
  set(OperationAttribute::transpose_a, transpose(p.b_transposed != 0));
  set(OperationAttribute::transpose_b, transpose(p.a_transposed != 0));
  set(OperationAttribute::epilogue, p.epilogue);
  if (bias != nullptr) set(OperationAttribute::bias_pointer, bias);
  const auto stored = [&](std::int64_t rows, std::int64_t columns, bool transposed,
                          std::int64_t leading, std::int64_t stride) {
    return make_layout(p.operand_type, transposed ? rows : columns, transposed ? columns : rows,
                       leading, p.batch, stride);
  };
  result.a = stored(p.rows, p.depth, p.a_transposed != 0, p.a_leading, p.a_stride);
  result.b = stored(p.depth, p.columns, p.b_transposed != 0, p.b_leading, p.b_stride);
  const auto dense = [&] {
    return make_layout(p.type, p.columns, p.rows, p.columns, p.batch, p.out_stride);
  };
  result.residual = dense();
  result.out = dense();
  return result;
}

struct Choice {
  Algorithm algorithm{};
  std::uint64_t workspace_bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Choice> && sizeof(Choice) == 72);

/// What an earlier process chose for the problem, where this library still takes it.
std::optional<Choice> stored_choice(const cache::Key& key, Handle handle,
                                    const Description& description, std::size_t workspace_bytes) {
  cache::Store& store = cache::Store::global();
  const std::optional<cache::Entry> entry = store.load(key);
  if (!entry) return std::nullopt;
  Choice choice;
  HeuristicResult result{};
  if (entry->kind == cache::PayloadKind::algorithm && entry->payload.size() == sizeof choice) {
    std::memcpy(&choice, entry->payload.data(), sizeof choice);
    const Status status = api().cublasLtMatmulAlgoCheck(
        handle, description.operation.get(), description.b.get(), description.a.get(),
        description.residual.get(), description.out.get(), &choice.algorithm, &result);
    if (status == Status::success && result.workspace_bytes <= workspace_bytes) return choice;
  }
  store.discard(key);
  return std::nullopt;
}

/// The library's own first choice; nothing where it refuses.
std::optional<Choice> heuristic_choice(const Problem& p, Handle handle,
                                       const Description& description,
                                       std::size_t workspace_bytes) {
  Preference made = nullptr;
  check(api().cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  const Owned<Preference> preference(made);
  const auto set = [&](PreferenceAttribute attribute, const auto& value) {
    check(api().cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(PreferenceAttribute::max_workspace_bytes, static_cast<std::uint64_t>(workspace_bytes));
  set(PreferenceAttribute::reduction_scheme_mask, reduction_in_compute_type);
  set(PreferenceAttribute::min_alignment_a_bytes, p.b_alignment);
  set(PreferenceAttribute::min_alignment_b_bytes, p.a_alignment);
  set(PreferenceAttribute::min_alignment_c_bytes, p.residual_alignment);
  set(PreferenceAttribute::min_alignment_d_bytes, p.out_alignment);
  HeuristicResult result{};
  int found = 0;
  const Status status = api().cublasLtMatmulAlgoGetHeuristic(
      handle, description.operation.get(), description.b.get(), description.a.get(),
      description.residual.get(), description.out.get(), made, 1, &result, &found);
  if (!refuses(status)) check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (status != Status::success || found == 0 || result.state != Status::success) {
    log().debug("cuBLASLt has no algorithm for {}: {}", p.text(),
                api().cublasLtGetStatusString(status));
    return std::nullopt;
  }
  return Choice{result.algorithm, result.workspace_bytes};
}

/// Choices of this process, refusals included.
class Choices {
 public:
  static Choices& global() {
    static auto* const instance = new Choices;
    return *instance;
  }

  std::optional<Choice> of(const Problem& problem, Handle handle, const Description& description,
                           std::size_t workspace_bytes) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = choices_.find(problem);
      if (known != choices_.end()) return known->second;
    }
    const std::optional<Choice> choice = choose(problem, handle, description, workspace_bytes);
    const std::lock_guard lock(mutex_);
    if (choices_.size() >= most_kept) choices_.clear();
    choices_.emplace(problem, choice);
    return choice;
  }

 private:
  static constexpr std::size_t most_kept = 4096;

  static std::optional<Choice> choose(const Problem& problem, Handle handle,
                                      const Description& description, std::size_t workspace_bytes) {
    const std::size_t version = api().cublasLtGetVersion();
    const ir::Target& target = target_of({DeviceKind::cuda, problem.ordinal});
    cache::KeyBuilder builder;
    builder.add("kind", "matmul algorithm")
        .add("architecture", target.architecture)
        .add("target", to_string(target))
        .add("library", static_cast<std::int64_t>(version))
        .add("workspace", static_cast<std::int64_t>(workspace_bytes))
        .add("problem", problem.text());
    const cache::Key key = builder.finish();
    if (const auto stored = stored_choice(key, handle, description, workspace_bytes)) return stored;
    const auto chosen = heuristic_choice(problem, handle, description, workspace_bytes);
    if (!chosen) return std::nullopt;
    cache::Store::global().save(
        key, cache::PayloadKind::algorithm,
        nlohmann::json({{"library", fmt::format("cuBLASLt {}", version)}}).dump(),
        std::string(reinterpret_cast<const char*>(&*chosen), sizeof *chosen));
    return chosen;
  }

  std::mutex mutex_;
  std::unordered_map<Problem, std::optional<Choice>, ProblemHasher> choices_;
};

}  // namespace

const std::string& unavailable_reason() { return loaded().reason; }

bool gemm(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
          void* out, void* workspace, std::size_t workspace_bytes, const Stream& stream) {
  if (!unavailable_reason().empty()) return false;
  const int ordinal = stream.device().ordinal;
  cuda::ContextScope context(ordinal);
  const Handle handle = handle_of(ordinal);
  if (handle == nullptr) return false;
  const Problem problem = problem_of(product, epilogue, a, b, out, ordinal);
  const Description description = describe(problem, epilogue.bias);
  const std::optional<Choice> choice =
      Choices::global().of(problem, handle, description, workspace_bytes);
  if (!choice) return false;
  const double wide_beta = epilogue.residual != nullptr ? epilogue.beta : 0;
  const auto alpha = static_cast<float>(epilogue.alpha), beta = static_cast<float>(wide_beta);
  const bool wide = product.dtype == DType::f64;
  const Status status = api().cublasLtMatmul(
      handle, description.operation.get(),
      wide ? static_cast<const void*>(&epilogue.alpha) : &alpha, b, description.b.get(), a,
      description.a.get(), wide ? static_cast<const void*>(&wide_beta) : &beta,
      epilogue.residual != nullptr ? epilogue.residual : out, description.residual.get(), out,
      description.out.get(), &choice->algorithm, workspace, choice->workspace_bytes,
      stream.handle());
  if (status == Status::not_supported) return false;
  check(status, "cublasLtMatmul");
  return true;
}

}  // namespace heddle::runtime::cublaslt
