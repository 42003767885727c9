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
/// In JitOptions::dynamic: the extent is a constant, taken from the call's argument.
inline constexpr Fixed fixed{};

/// An extent of a Spec: a number, or the name of an extent that is known only at launch.
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

/// Describes an array without data: hd::spec<float>({"n", 64}). Equal symbols mean equal extents. A
/// saved program keeps the name: ProgramInput::name.
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
  /// The program's name in dumps and reports.
  std::string name = "main";
  /// Positions of arguments whose memory the call may reuse. These arrays hold no value after the
  /// call, as if passed by std::move. A donated array that cannot be reused is reported once.
  /// ValueError, from jit() or the first call, for a position without an argument.
  std::vector<int> donate = {};
  /// For each array among the arguments, in order: the extents that may change without
  /// recompilation. {{"n", hd::fixed}} makes the leading extent of the first array a symbol. An
  /// absent entry makes no extent symbolic. Conditions that an op puts on a symbolic extent are
  /// checked at each call: x(hd::slice(-5, {})) of 3 elements is an IndexError.
  std::vector<SpecShape> dynamic = {};
  bool strict = false;       ///< no contraction of a*b+c
  bool approximate = false;  ///< 2 ulp division and square root, fast exp and log
  /// Precision of the matrix products that do not set their own. If absent, matmul_precision() at
  /// the time of the call, which is then part of the signature.
  std::optional<Precision> matmul_precision = {};
  /// Names of passes, families and methods to switch off. For an unknown name jit() throws a
  /// ValueError that lists the known names.
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
/// The parameter type that the function is tried with for an argument: first choice and second
/// choice.
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
  /// The arrays that follow belong to argument `position`. Returns true if JitOptions donates it.
  bool begin_argument(const JitState& state, int position);
  void array(const Array& array);
  /// An array that is not an argument but that the function may capture. It becomes an input if it
  /// is used.
  void hidden(const Array& array);
  /// Takes the array's value. The array gets it back if the call fails.
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
/// Replaces the arrays inside the arguments by the trace's input arrays.
struct Replacing {
  const std::vector<Array>& inputs;
  std::size_t& position;
  void array(Array& array) { array = inputs.at(position++); }
  void plain(const void*, std::size_t) {}
};
/// Moves the arrays out of a traced result, so that only the structure remains.
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

/// Runs the user's function on the inputs of a trace. Returns the structure of the result.
using TraceBody = std::function<std::shared_ptr<const void>(const std::vector<Array>& inputs,
                                                            std::vector<Array>& outputs)>;

/// True while a function is traced on this thread.
bool tracing();
/// The scalar argument of a jitted function that is called inside a trace, as a weak 0-d array.
Array weak_array(Scalar value);

std::shared_ptr<JitState> make_jit_state(JitOptions options);
/// JitOptions::matmul_precision.
std::optional<Precision> precision_of(const JitState& state);
/// Launches the program for the call. A new signature is traced and compiled first. Returns the
/// structure of the result.
const void* launch(JitState& state, Call& call, const TraceBody& body);
std::shared_ptr<const LoweredState> lower(JitState& state, Call& call, const TraceBody& body);

template <class... T>
inline constexpr char types_tag = 0;

}  // namespace frontend

/// Output formats of Lowered::explain.
enum class ExplainForm : std::uint8_t {
  text,  ///< plain text, for a terminal
  json,  ///< one object, for tools; also has the compiler's figures for the kernels
  html,  ///< the same as a self-contained page that needs no network
  dot    ///< the graph after the passes, for Graphviz
};

/// The program of a traced function: its texts and properties. Nothing needs to be compiled or run.
class Lowered {
 public:
  /// The traced graph in text form.
  std::string ir() const;
  /// The generated CUDA C++ for `target` ("sm_90", "sm_90:h200" ...). By default the current GPU,
  /// or sm_90 if there is none. ValueError for an unknown target.
  std::string cuda(const std::string& target = "") const;
  /// The generated C++ for the host.
  std::string host() const;
  /// Describes the program: passes, groups and their families, fusion barriers with their reasons,
  /// memory, and bytes moved. For the current device by default. JSON and HTML also give the
  /// registers and memory of each kernel. For this the kernels are compiled, or taken from the
  /// cache; without a compiler the output says so. ValueError for an unknown target.
  std::string explain(const std::string& target = "", ExplainForm form = ExplainForm::text) const;
  /// Number of kernels of the program on the current device. Compiles the program.
  int kernel_count() const;
  /// Compiles for a target into the disk cache. The target's device need not be present. Returns
  /// the number of kernels compiled.
  int warm(const std::string& target) const;
  /// Writes the program into one file for hd::load_program, compiled for the targets ("sm_90",
  /// "x86-64-v3" ...), by default for the current device. Throws ValueError if the function reads
  /// anything besides its arguments (captured arrays, random numbers); CompileError; FileError.
  /// `mode` is the file's permission bits, whatever the umask; by default everyone may read it. If
  /// HEDDLE_CACHE_KEY is set, it signs the file.
  void save(const std::string& path, const std::vector<std::string>& targets = {},
            unsigned mode = 0644) const;
  std::size_t input_count() const;
  std::size_t output_count() const;

  explicit Lowered(std::shared_ptr<const frontend::LoweredState> state)
      : state_(std::move(state)) {}

 private:
  std::shared_ptr<const frontend::LoweredState> state_;
};

/// A function that is traced once for each signature and then only launched. See jit().
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

  /// The program for these arguments. A Spec may stand for an array.
  template <class... Args>
  Lowered lower(const Args&... args) const {
    using Chosen = ChosenFor<const Args&...>;
    frontend::Call call(&frontend::types_tag<Chosen, Args...>);
    collect(Chosen{}, call, args...);
    const auto body = body_for(Chosen{}, args...);
    return Lowered(frontend::lower(*state_, call, std::cref(body)));
  }
  /// The same for a function that takes only arrays: f.lower({hd::spec<float>({"n", 64}), ...}).
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

  /// Copies the arguments, replaces their arrays by the trace's, and calls the function.
  template <class... C, class... Args>
  auto body_for(frontend::Types<C...>, const Args&... args) const {
    return [this, arguments = std::tie(args...)](const std::vector<Array>& inputs,
                                                 std::vector<Array>& outputs) {
      return std::apply(
          [&](const auto&... each) -> std::shared_ptr<const void> {
            using Result = ResultOf<frontend::Types<C...>>;
            static_assert(!std::is_void_v<Result>, "jit: the function must return its results");
            [[maybe_unused]] std::size_t position = 0;
            // Braced initialisation evaluates in order.
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

/// Turns a function of arrays into one that is traced and compiled once for each signature; later
/// calls launch immediately. The signature consists of the arrays' dtypes, shapes and alignment,
/// the set of donated arrays (passed by std::move or as temporaries), and all plain values among
/// the arguments (integers, bool, strings ...).
///
/// A scalar passed to a parameter of type Array is a scalar argument: a new value does not
/// recompile. If the function accepts both an Array and the number, a floating-point scalar is
/// passed as an Array, an integer as a plain value. Exception: the first integer that does not fit
/// int64, or the dtype of an array that it is compared with, recompiles.
///
/// Captured arrays are hidden inputs: each call reads what the variables hold at that time. Structs
/// declared with HEDDLE_STRUCT, tuples, and containers of arrays may be arguments and results.
/// Inside the function, reading a value (item, bool, printing) throws TraceError, literals become
/// constants, and calls of other jitted functions are inlined. May be called from any thread.
template <class F>
JitFunction<std::decay_t<F>> jit(F&& function, JitOptions options = {}) {
  return {std::forward<F>(function), std::move(options)};
}

}  // namespace heddle
