#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"
#include "heddle/fields.h"
#include "heddle/settings.h"

namespace heddle {

struct Fixed {};
/// In JitOptions::dynamic: this extent is a constant, as met at the call.
inline constexpr Fixed fixed{};

/// An extent of a spec: a number, or the name of one that is not known until launch.
class SpecDim {
 public:
  // NOLINTBEGIN: extents convert
  template <std::integral T>
  SpecDim(T number) : extent(static_cast<std::int64_t>(number)) {}
  SpecDim(const char* name) : symbol(name) {}
  SpecDim(std::string name) : symbol(std::move(name)) {}
  SpecDim(Fixed) {}
  // NOLINTEND
  std::int64_t extent = -1;  ///< -1: named, or fixed
  std::string symbol;
};
using SpecShape = std::vector<SpecDim>;

/// An array without data: hd::spec<float>({"n", 64}). Equal symbols are equal extents. A saved
/// program keeps the name for ProgramInput::name.
struct Spec {
  DType dtype = DType::f32;
  SpecShape shape;
  std::string name = {};
};
inline Spec spec(DType dtype, SpecShape shape, std::string name = {}) {
  return {dtype, std::move(shape), std::move(name)};
}
template <Element T>
Spec spec(SpecShape shape, std::string name = {}) {
  return {dtype_of<T>, std::move(shape), std::move(name)};
}

struct JitOptions {
  /// What the program is called in dumps and reports.
  std::string name = "main";
  /// Arguments, by position, whose memory the call may take over: they hold nothing afterwards.
  /// The same as passing them by std::move. One that cannot be used is reported once. ValueError,
  /// by jit() or the first call, for a position that is none of an argument.
  std::vector<int> donate = {};
  /// Per array among the arguments, in order: which extents may change without compiling again.
  /// {{"n", hd::fixed}} makes the first array's leading extent a symbol. Absent: none. What an op
  /// needs of it is checked at each call: x(hd::slice(-5, {})) of 3 elements is an IndexError.
  std::vector<SpecShape> dynamic = {};
  bool strict = false;       ///< no contraction of a*b+c
  bool approximate = false;  ///< 2 ulp division and square root, fast exp and log
  /// Of the matrix products inside that do not choose themselves; absent: matmul_precision() at the
  /// call, which is part of the signature.
  std::optional<Precision> matmul_precision = {};
  /// Passes, families and methods switched off, by name. ValueError, by jit(), for another name,
  /// which lists those that there are.
  std::vector<std::string> disable = {};
};

namespace frontend {
struct LoweredState;
struct JitState;
struct CallState;

template <class... T>
struct Types {};

template <class T>
using Argument =
    std::conditional_t<std::is_same_v<T, const char*> || std::is_same_v<T, char*>, std::string, T>;
/// What the function gets for an argument: first choice, and second.
template <class T>
using FirstChoice =
    std::conditional_t<std::is_same_v<T, Spec> || (IsNumber<T> && !std::is_integral_v<T>), Array,
                       T>;
template <class T>
using SecondChoice = std::conditional_t<std::is_integral_v<T>, Array, T>;

template <class F, class... C>
constexpr auto choose(Types<C...>, Types<>) {
  if constexpr (std::is_invocable_v<F&, C...>) {
    return Types<C...>{};
  } else {
    return false;
  }
}
template <class F, class... C, class T, class... Rest>
constexpr auto choose(Types<C...>, Types<T, Rest...>) {
  constexpr auto first = choose<F>(Types<C..., FirstChoice<T>>{}, Types<Rest...>{});
  if constexpr (std::is_same_v<decltype(first), const bool> && IsNumber<T>) {
    return choose<F>(Types<C..., SecondChoice<T>>{}, Types<Rest...>{});
  } else {
    return first;
  }
}

/// The arguments of one call, flattened.
class Call {
 public:
  explicit Call(const void* types);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();
  /// From here on arrays belong to argument `position`; true when JitOptions donates it.
  bool begin_argument(const JitState& state, int position);
  void array(const Array& array);
  /// An array that is no argument, which the function may reach by itself: an input where it does.
  void hidden(const Array& array);
  /// Takes the array's value; it comes back when the call fails.
  void take(Array& array);
  void scalar(Scalar value);
  void spec(const Spec& spec);
  /// The names of the arrays and numbers so far, which a saved program keeps.
  void name_inputs(std::vector<std::string> names);
  void plain(const void* bytes, std::size_t count);
  Array next_result();

  std::unique_ptr<CallState> state;
};

struct Borrowing {
  Call& call;
  void array(const Array& array) { call.array(array); }
  void plain(const void* bytes, std::size_t count) { call.plain(bytes, count); }
};
struct Taking {
  Call& call;
  void array(Array& array) { call.take(array); }
  void plain(const void* bytes, std::size_t count) { call.plain(bytes, count); }
};
/// Puts the trace's arrays in the place of the arguments'.
struct Replacing {
  const std::vector<Array>& inputs;
  std::size_t& position;
  void array(Array& array) { array = inputs.at(position++); }
  void plain(const void*, std::size_t) {}
};
/// Moves a traced result's arrays out, so that only its structure stays.
struct Extracting {
  std::vector<Array>& outputs;
  void array(Array& array) {
    outputs.push_back(std::move(array));
    array = Array();
  }
  void plain(const void*, std::size_t) {}
};
struct Filling {
  Call& call;
  void array(Array& array) { array = call.next_result(); }
  void plain(const void*, std::size_t) {}
};

/// Runs the user's function on a trace's inputs; keeps its result's structure.
using TraceBody = std::function<std::shared_ptr<const void>(const std::vector<Array>& inputs,
                                                            std::vector<Array>& outputs)>;

/// True while a function is traced on this thread.
bool tracing();
/// A scalar argument of a jitted function that another one calls: a weak 0-d array.
Array weak_array(Scalar value);

std::shared_ptr<JitState> make_jit_state(JitOptions options);
/// JitOptions::matmul_precision.
std::optional<Precision> precision_of(const JitState& state);
/// Launches the program for the call, tracing and compiling it first when it is new. Returns the
/// structure of the result.
const void* launch(JitState& state, Call& call, const TraceBody& body);
std::shared_ptr<const LoweredState> lower(JitState& state, Call& call, const TraceBody& body);

template <class... T>
inline constexpr char types_tag = 0;

}  // namespace frontend

/// How Lowered::explain shows a program.
enum class ExplainForm : std::uint8_t {
  text,  ///< words, for a terminal
  json,  ///< one object, for tools; also what a compiler made of the kernels
  html,  ///< the same as a page of its own, which needs no network
  dot    ///< the graph after the passes, for Graphviz
};

/// A traced function as a program: its texts and facts. Nothing has to be compiled or run.
class Lowered {
 public:
  /// The traced graph in text form.
  std::string ir() const;
  /// The generated CUDA C++, for `target` ("sm_90", "sm_90:h200" ...); by default the GPU at hand,
  /// else sm_90. ValueError for a name that is no target.
  std::string cuda(const std::string& target = "") const;
  /// The generated C++ for the host.
  std::string host() const;
  /// What became of the program: passes, groups, their families, the cuts and why, memory, and
  /// bytes moved; for the current device by default. JSON and HTML also have registers and memory
  /// of each kernel, for which the kernels are compiled, or taken from the cache; where there is no
  /// compiler they say so. ValueError for a name that is no target.
  std::string explain(const std::string& target = "", ExplainForm form = ExplainForm::text) const;
  /// Kernels of the program on the current device; compiles it.
  int kernel_count() const;
  /// Compiles for a target that need not be here into the disk cache. Returns how many kernels
  /// were compiled.
  int warm(const std::string& target) const;
  /// Writes the program into one file for hd::load_program, compiled for the targets ("sm_90",
  /// "x86-64-v3" ...), by default the current device's. Throws ValueError for a function that reads
  /// more than its arguments: arrays from outside, random numbers; CompileError; FileError. The
  /// file is for all to read, or of another mode, whatever the umask; HEDDLE_CACHE_KEY signs it
  /// where that is set.
  void save(const std::string& path, const std::vector<std::string>& targets = {},
            unsigned mode = 0644) const;
  std::size_t input_count() const;
  std::size_t output_count() const;

  explicit Lowered(std::shared_ptr<const frontend::LoweredState> state)
      : state_(std::move(state)) {}

 private:
  std::shared_ptr<const frontend::LoweredState> state_;
};

/// A function that is traced once for each signature, then only launched. See jit().
template <class F>
class JitFunction {
 public:
  JitFunction(F function, JitOptions options)
      : function_(std::make_shared<F>(std::move(function))),
        state_(frontend::make_jit_state(std::move(options))) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    using Chosen = ChosenFor<Args...>;
    if (frontend::tracing()) return inlined(Chosen{}, std::forward<Args>(args)...);
    frontend::Call call(&frontend::types_tag<Chosen, std::remove_cvref_t<Args>...>);
    const auto body = body_for(Chosen{}, args...);
    collect(Chosen{}, call, std::forward<Args>(args)...);
    using Result = ResultOf<Chosen>;
    Result result = *static_cast<const Result*>(frontend::launch(*state_, call, std::cref(body)));
    frontend::Filling filling{call};
    frontend::visit_fields(result, filling);
    return result;
  }

  /// The program for these arguments: arrays, or specs in their place.
  template <class... Args>
  Lowered lower(const Args&... args) const {
    using Chosen = ChosenFor<const Args&...>;
    frontend::Call call(&frontend::types_tag<Chosen, Args...>);
    collect(Chosen{}, call, args...);
    const auto body = body_for(Chosen{}, args...);
    return Lowered(frontend::lower(*state_, call, std::cref(body)));
  }
  /// The same for a function of arrays only: f.lower({hd::spec<float>({"n", 64}), ...}).
  Lowered lower(std::initializer_list<Spec> specs) const {
    return lower_specs<0>(specs.begin(), specs.size());
  }
  Lowered lower(const std::vector<Spec>& specs) const {
    return lower_specs<0>(specs.data(), specs.size());
  }

  template <class... Args>
  std::string ir(const Args&... args) const {
    return lower(args...).ir();
  }
  template <class... Args>
  std::string cuda(const Args&... args) const {
    return lower(args...).cuda();
  }
  template <class... Args>
  std::string host(const Args&... args) const {
    return lower(args...).host();
  }
  template <class... Args>
  std::string explain(const Args&... args) const {
    return lower(args...).explain();
  }
  template <class... Args>
  int kernel_count(const Args&... args) const {
    return lower(args...).kernel_count();
  }
  /// f.save("step.hdp", {hd::spec<float>({"n", 64})}), for the current device; see Lowered::save.
  template <class... Args>
  void save(const std::string& path, const Args&... args) const {
    lower(args...).save(path);
  }
  void save(const std::string& path, std::initializer_list<Spec> specs) const {
    lower(specs).save(path);
  }

 private:
  template <class... Args>
  using ChosenFor = decltype(frontend::choose<F>(
      frontend::Types<>{}, frontend::Types<frontend::Argument<std::decay_t<Args>>...>{}));

  template <class... C>
  static std::invoke_result_t<F&, C...> result_of(frontend::Types<C...>);
  template <class Chosen>
  using ResultOf = std::remove_cvref_t<decltype(result_of(Chosen{}))>;

  template <class... C, class... Args>
  auto inlined(frontend::Types<C...>, Args&&... args) const {
    const MatmulPrecision scope(frontend::precision_of(*state_));
    return (*function_)(as_argument<C>(std::forward<Args>(args))...);
  }
  template <class C, class Arg>
  static decltype(auto) as_argument(Arg&& arg) {
    if constexpr (std::is_same_v<C, Array> && frontend::IsNumber<std::remove_cvref_t<Arg>>) {
      return frontend::weak_array(Scalar(arg));
    } else {
      return std::forward<Arg>(arg);
    }
  }

  template <class... C, class... Args>
  void collect(frontend::Types<C...>, frontend::Call& call, Args&&... args) const {
    int position = 0;
    (collect_one<C>(call, position++, std::forward<Args>(args)), ...);
  }
  template <class C, class Arg>
  void collect_one(frontend::Call& call, int position, Arg&& arg) const {
    using Plain = std::remove_cvref_t<Arg>;
    const bool donate = call.begin_argument(*state_, position);
    if constexpr (std::is_same_v<Plain, Spec>) {
      call.spec(arg);
    } else if constexpr (std::is_same_v<C, Array> && frontend::IsNumber<Plain>) {
      call.scalar(Scalar(arg));
    } else if constexpr (std::is_const_v<std::remove_reference_t<Arg>> ||
                         !frontend::HoldsArrays<Plain>::value) {
      frontend::Borrowing visitor{call};
      frontend::visit_fields(std::as_const(arg), visitor);
    } else if (donate || std::is_rvalue_reference_v<Arg&&>) {
      frontend::Taking visitor{call};
      frontend::visit_fields(arg, visitor);
    } else {
      frontend::Borrowing visitor{call};
      frontend::visit_fields(std::as_const(arg), visitor);
    }
  }

  /// Copies the arguments with the trace's arrays in them, and calls the function.
  template <class... C, class... Args>
  auto body_for(frontend::Types<C...>, const Args&... args) const {
    return [this, arguments = std::tie(args...)](const std::vector<Array>& inputs,
                                                 std::vector<Array>& outputs) {
      return std::apply(
          [&](const auto&... each) -> std::shared_ptr<const void> {
            using Result = ResultOf<frontend::Types<C...>>;
            static_assert(!std::is_void_v<Result>, "jit: the function must return its results");
            [[maybe_unused]] std::size_t position = 0;
            // Braces: evaluated in order.
            std::tuple<C...> values{traced<C>(each, inputs, position)...};
            auto result = std::make_shared<Result>(
                std::apply([&](C&... value) { return (*function_)(std::move(value)...); }, values));
            frontend::Extracting extracting{outputs};
            frontend::visit_fields(*result, extracting);
            return result;
          },
          arguments);
    };
  }
  template <class C, class Arg>
  static C traced(const Arg& arg, const std::vector<Array>& inputs, std::size_t& position) {
    if constexpr (std::is_same_v<C, Array>) {
      return inputs.at(position++);
    } else {
      C value(arg);
      frontend::Replacing replacing{inputs, position};
      frontend::visit_fields(value, replacing);
      return value;
    }
  }

  template <std::size_t N>
  Lowered lower_specs(const Spec* specs, std::size_t count) const {
    if constexpr (N > 16) {
      throw ValueError("lower: the function does not take that many arrays");
    } else {
      if (count == N) return lower_exactly(specs, std::make_index_sequence<N>{});
      return lower_specs<N + 1>(specs, count);
    }
  }
  template <std::size_t... I>
  Lowered lower_exactly(const Spec* specs, std::index_sequence<I...>) const {
    if constexpr (std::is_invocable_v<F&, decltype((void)I, Array())...>) {
      return lower(specs[I]...);
    } else {
      throw ValueError("lower: the function does not take that many arrays");
    }
  }

  std::shared_ptr<F> function_;
  std::shared_ptr<frontend::JitState> state_;
};

/// Makes a function of arrays that is traced and compiled once for each signature and then only
/// launched, at once. The signature is the arrays' dtypes, shapes and alignment, which of them are
/// donated (those passed by std::move, temporaries included), and all plain values among the
/// arguments (integers, bool, strings ...). A scalar given for a parameter that takes an Array,
/// which is a floating one where both would do, is a scalar argument: a new value compiles nothing,
/// save an integer that is the first beyond int64, or beyond the dtype of an array that it is
/// compared with. Arrays that the function captures are hidden inputs: what the variables hold is
/// read anew at each call.
/// Structs declared with HEDDLE_STRUCT, tuples and containers of arrays pass in and out. Inside,
/// asking for a value (item, bool, printing) throws TraceError; literals become constants; another
/// jitted function is inlined. May be called from any thread.
template <class F>
JitFunction<std::decay_t<F>> jit(F&& function, JitOptions options = {}) {
  return {std::forward<F>(function), std::move(options)};
}

}  // namespace heddle
