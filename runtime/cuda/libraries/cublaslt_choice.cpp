#include "runtime/cuda/libraries/cublaslt_choice.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/cache/store.h"
#include "runtime/device/memory.h"
#include "runtime/libraries/autotune.h"

namespace heddle::runtime::cublaslt {

namespace {

constexpr int most_timed = 8;

/// The choice of an earlier process for the problem, if this library still accepts it.
std::optional<Choice> stored_choice(const cache::Key& key, const Call& call) {
  const Description& description = call.description;
  cache::Store& store = cache::Store::global();
  const std::optional<cache::Entry> entry = store.load(key);
  if (!entry) return std::nullopt;
  Choice choice;
  HeuristicResult result{};
  if (entry->kind == cache::PayloadKind::algorithm && entry->payload.size() == sizeof choice) {
    std::memcpy(&choice, entry->payload.data(), sizeof choice);
    const Status status = api().cublasLtMatmulAlgoCheck(
        call.handle, description.operation.get(), description.b.get(), description.a.get(),
        description.residual.get(), description.out.get(), &choice.algorithm, &result);
    if (status == Status::success && result.workspace_bytes <= call.workspace_bytes) return choice;
    // Another failure says nothing about the entry.
    if (status != Status::success && !refuses(status)) return std::nullopt;
  }
  store.discard(key);
  return std::nullopt;
}

/// The library's candidates, its preferred one first; empty if it refuses the problem.
std::vector<Choice> heuristic_choices(const Problem& p, const Call& call, int most) {
  const Description& description = call.description;
  Preference made = nullptr;
  check(api().cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  const Owned<Preference> preference(made);
  const auto set = [&](PreferenceAttribute attribute, const auto& value) {
    check(api().cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(PreferenceAttribute::max_workspace_bytes, static_cast<std::uint64_t>(call.workspace_bytes));
  set(PreferenceAttribute::reduction_scheme_mask, reduction_in_compute_type);
  set(PreferenceAttribute::min_alignment_a_bytes, p.b_alignment);
  set(PreferenceAttribute::min_alignment_b_bytes, p.a_alignment);
  set(PreferenceAttribute::min_alignment_c_bytes, p.residual_alignment);
  set(PreferenceAttribute::min_alignment_d_bytes, p.out_alignment);
  std::vector<HeuristicResult> results(static_cast<std::size_t>(most));
  int found = 0;
  const Status status = api().cublasLtMatmulAlgoGetHeuristic(
      call.handle, description.operation.get(), description.b.get(), description.a.get(),
      description.residual.get(), description.out.get(), made, most, results.data(), &found);
  if (!refuses(status)) check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Choice> choices;
  for (int i = 0; status == Status::success && i < found; ++i) {
    const HeuristicResult& result = results[static_cast<std::size_t>(i)];
    if (result.state == Status::success)
      choices.push_back({result.algorithm, result.workspace_bytes});
  }
  if (choices.empty()) {
    log().debug("cuBLASLt has no algorithm for {}: {}", p.text(),
                api().cublasLtGetStatusString(status));
  }
  return choices;
}

/// Microseconds per run, from a batch long enough to hide the host's overhead; nullopt if the
/// library refuses the choice after all.
std::optional<double> time_of(const Choice& choice, const Call& call, void* out) {
  using Clock = std::chrono::steady_clock;
  constexpr double long_enough = 500;
  constexpr int most_runs = 64;
  if (call.run(choice, out) != Status::success) return std::nullopt;
  for (int runs = 4;; runs *= 4) {
    call.stream.synchronize();
    const auto begin = Clock::now();
    for (int i = 0; i < runs; ++i) {
      if (call.run(choice, out) != Status::success) return std::nullopt;
    }
    call.stream.synchronize();
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (us >= long_enough || runs >= most_runs) return us / runs;
  }
}

/// If the result overwrites the residual, timed runs write to scratch memory, because the residual
/// must stay unchanged.
std::optional<Choice> fastest(const Problem& problem, const std::vector<Choice>& choices,
                              const Call& call) {
  BufferRef scratch;
  void* out = call.out;
  constexpr std::uint32_t in_place = 2;
  if (problem.residual == in_place && choices.size() > 1) {
    const std::int64_t elements =
        problem.batch == 1 ? problem.rows * problem.columns : problem.batch * problem.out_stride;
    constexpr std::size_t widest = 8;
    scratch = allocate(static_cast<std::size_t>(elements) * widest, call.stream);
    out = scratch->pointer();
  }
  std::optional<Choice> best;
  double least = 0;
  for (const Choice& choice : choices) {
    const std::optional<double> us =
        choices.size() == 1 ? std::optional(0.0) : time_of(choice, call, out);
    log().debug("cuBLASLt, {}: algorithm {} takes {} us", problem.text(), &choice - choices.data(),
                us ? fmt::format("{:.1f}", *us) : "no");
    if (us && (!best || *us < least)) best = choice, least = *us;
  }
  return best;
}

/// The choices made in this process, including refusals.
class Choices {
 public:
  static Choices& global() {
    static auto* const instance = new Choices;
    return *instance;
  }

  std::optional<Choice> of(const Problem& problem, const Call& call, bool timed) {
    auto& choices = choices_[timed ? 1 : 0];
    // During a capture nothing runs, so nothing can be timed.
    const bool choosable = !timed || !call.stream.capturing();
    {
      const std::lock_guard lock(mutex_);
      const auto known = choices.find(problem);
      if (known != choices.end()) return known->second;
    }
    if (!choosable) return of(problem, call, false);
    const std::optional<Choice> choice = choose(problem, call, timed);
    const std::lock_guard lock(mutex_);
    if (choices.size() >= most_kept) choices.clear();
    choices.emplace(problem, choice);
    return choice;
  }

 private:
  static constexpr std::size_t most_kept = 4096;

  static std::optional<Choice> choose(const Problem& problem, const Call& call, bool timed) {
    const std::size_t version = api().cublasLtGetVersion();
    const ir::Target& target = target_of({DeviceKind::cuda, problem.ordinal});
    cache::KeyBuilder builder;
    builder.add("kind", "matmul algorithm")
        .add("architecture", target.architecture)
        .add("target", to_string(target))
        .add("library", static_cast<std::int64_t>(version))
        .add("workspace", static_cast<std::int64_t>(call.workspace_bytes))
        .add("problem", problem.text())
        .add("timed", timed);
    const cache::Key key = builder.finish();
    if (const auto stored = stored_choice(key, call)) return stored;
    const std::vector<Choice> choices = heuristic_choices(problem, call, timed ? most_timed : 1);
    const std::optional<Choice> chosen = timed             ? fastest(problem, choices, call)
                                         : choices.empty() ? std::nullopt
                                                           : std::optional(choices.front());
    if (!chosen) return std::nullopt;
    cache::Store::global().save(
        key, cache::PayloadKind::algorithm,
        nlohmann::json({{"library", fmt::format("cuBLASLt {}", version)}}).dump(),
        std::string(reinterpret_cast<const char*>(&*chosen), sizeof *chosen));
    return chosen;
  }

  ir::Mutex mutex_;
  std::unordered_map<Problem, std::optional<Choice>, ProblemHasher> choices_[2];  ///< [1]: timed
};

}  // namespace

Status Call::run(const Choice& choice, void* into) const {
  return api().cublasLtMatmul(handle, description.operation.get(), alpha, b, description.b.get(), a,
                              description.a.get(), beta, residual, description.residual.get(), into,
                              description.out.get(), &choice.algorithm, workspace,
                              choice.workspace_bytes, stream.handle());
}

std::optional<Choice> choice_of(const Problem& problem, const Call& call) {
  return Choices::global().of(problem, call, autotuning());
}

}  // namespace heddle::runtime::cublaslt
