// Templates of the ready-made loops: each applies one op to contiguous arrays. When Heddle is
// built, runtime/ready_loops/print.cpp prints one instance for each op and dtype, after the scalar
// code. The text is compiled as kernels are: without standard headers, once for each instruction
// set.
#include "codegen/blocks/loop_types.h"

#define HD_INLINE __attribute__((always_inline))

namespace heddle_blocks {
/// Constructs at an address: there is no <new>.
struct Placed {};
}  // namespace heddle_blocks
inline void* operator new(decltype(sizeof 0), void* at, heddle_blocks::Placed) noexcept {
  return at;
}

namespace heddle_blocks {
namespace op = heddle_scalar;
using op::wide_half;

/// How an element of type T is stored. GCC does not vectorise loops that move bool or structs.
template <class T>
struct Element {
  using Stored = T;
  static HD_SCALAR T load(T x) { return x; }
  static HD_SCALAR T store(T x) { return x; }
};
template <>
struct Element<bool> {
  using Stored = unsigned char;
  static HD_SCALAR bool load(unsigned char x) { return x != 0; }
  static HD_SCALAR unsigned char store(bool x) { return x; }
};
template <class T>
struct SoftElement {
  using Stored = unsigned short;
  static HD_SCALAR T load(unsigned short x) { return T{x}; }
  static HD_SCALAR unsigned short store(T x) { return x.bits; }
};
template <>
struct Element<op::bfloat16> : SoftElement<op::bfloat16> {};
template <>
struct Element<wide_half> : SoftElement<wide_half> {};
template <class T>
using Stored = typename Element<T>::Stored;

/// The most elements that a loop with halves takes at once: they are converted together.
constexpr int strip = 512;

template <class T>
struct Source {
  const Stored<T>* from;
  HD_SCALAR Source(const Stored<T>* pointer, int) : from(pointer) {}
  HD_SCALAR T at(int k) const { return Element<T>::load(from[k]); }
};
template <>
struct Source<wide_half> {
  const unsigned short* from;
  alignas(64) float wide[strip];
  HD_SCALAR Source(const unsigned short* pointer, int n) : from(pointer) {
    op::widen_all(wide, pointer, n);
  }
  HD_SCALAR wide_half at(int k) const { return wide_half(from[k], wide[k]); }
};

template <class T>
struct Sink {
  Stored<T>* to;
  HD_SCALAR explicit Sink(Stored<T>* pointer) : to(pointer) {}
  HD_SCALAR void put(int k, T x) { to[k] = Element<T>::store(x); }
  HD_SCALAR void flush(int) {}
};
template <>
struct Sink<wide_half> {
  unsigned short* to;
  alignas(64) float unrounded[strip];
  HD_SCALAR explicit Sink(unsigned short* pointer) : to(pointer) {}
  HD_SCALAR void put(int k, wide_half x) { unrounded[k] = x.unrounded; }
  HD_SCALAR void flush(int n) { op::narrow_all(to, unrounded, n); }
};

template <class To, class F, class... From>
static __attribute__((noinline)) void each(F f, Stored<To>* __restrict__ to, int n,
                                           const Stored<From>* __restrict__... from) {
  Sink<To> sink(to);
  const auto run = [&](const auto&... source) HD_INLINE {
    for (int k = 0; k < n; ++k) sink.put(k, f(source.at(k)...));
  };
  run(Source<From>(from, n)...);
  sink.flush(n);
}

template <int... at>
struct Sequence {};
template <int n, int... at>
struct SequenceOf : SequenceOf<n - 1, n - 1, at...> {};
template <int... at>
struct SequenceOf<0, at...> {
  using Type = Sequence<at...>;
};

template <class To, class... From, class F, int... at>
HD_SCALAR void map(F f, void* to, const void* const* from, Index n, Sequence<at...>) {
  constexpr bool halves = op::is_same<To, wide_half> || (op::is_same<From, wide_half> || ...);
  constexpr Index most = halves ? strip : 1 << 30;
  for (Index k = 0; k < n; k += most) {
    each<To, F, From...>(f, static_cast<Stored<To>*>(to) + k,
                         static_cast<int>(n - k < most ? n - k : most),
                         static_cast<const Stored<From>*>(from[at]) + k...);
  }
}

template <class R>
constexpr bool has_place(decltype(R::greatest_wins)) {
  return true;
}
template <class R>
constexpr bool has_place(...) {
  return false;
}
/// Whether the result depends on the order in which elements are combined: sums and products of
/// floats (passes::has_order).
template <class R, class T>
constexpr bool is_ordered =
    (op::is_same<R, op::reduce::sum<T>> || op::is_same<R, op::reduce::prod<T>>) &&
    !op::is_integer<T>;

template <class R, class T>
struct Reduced {
  using State = typename R::State;
  using Result = typename R::Result;
  static constexpr bool finds_index = has_place<R>(0);
  static constexpr bool has_extreme = finds_index && !op::is_complex<T>;
  static constexpr bool ordered = is_ordered<R, T>;
  static State* states(void* pointer) { return static_cast<State*>(pointer); }

  static void identity(void* to, Index n) {
    for (Index k = 0; k < n; ++k) states(to)[k] = R::identity();
  }

  template <int width>
  static __attribute__((noinline)) void lanes_of(State* __restrict__ to,
                                                 const Stored<T>* __restrict__ from, Index at,
                                                 Index n) {
    alignas(64) State a[width];
    for (int k = 0; k < width; ++k) a[k] = to[k];
    const auto visit = [&](Index k, int lane) HD_INLINE {
      a[lane] = R::combine(a[lane], R::lift(Element<T>::load(from[k]), at + k));
    };
    Index k = 0;
    for (; k < n && (at + k) % width != 0; ++k) visit(k, static_cast<int>((at + k) % width));
    Index stop = n;
    asm("" : "+r"(stop));  // GCC 12 keeps the states in memory if it knows too much about the end
    for (; k + width <= stop; k += width) {
      for (int lane = 0; lane < width; ++lane) visit(k + lane, lane);
    }
    for (int lane = 0; k < n; ++k, ++lane) visit(k, lane);
    for (int lane = 0; lane < width; ++lane) to[lane] = a[lane];
  }
  static void lanes(void* to, int width, const void* from, Index at, Index n) {
    const auto* const values = static_cast<const Stored<T>*>(from);
    if constexpr (ordered) {
      switch (width) {
        case 1:
          return lanes_of<1>(states(to), values, at, n);
        case 16:
          return lanes_of<16>(states(to), values, at, n);
        case 32:
          return lanes_of<32>(states(to), values, at, n);
        default:
          return lanes_of<64>(states(to), values, at, n);
      }
    } else if constexpr (!has_extreme) {
      lanes_of<unordered_lanes>(states(to), values, at, n);
    }
  }
  static void halve(void* lanes, int width) {
    State* const a = states(lanes);
    for (int half = width / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) a[k] = R::combine(a[k], a[k + half]);
    }
  }

  static __attribute__((noinline)) void columns_of(State* __restrict__ to,
                                                   const Stored<T>* __restrict__ from, Index row,
                                                   int n) {
    for (int k = 0; k < n; ++k) to[k] = R::combine(to[k], R::lift(Element<T>::load(from[k]), row));
  }
  static void columns(void* to, const void* from, Index row, Index n) {
    columns_of(states(to), static_cast<const Stored<T>*>(from), row, static_cast<int>(n));
  }

  static __attribute__((noinline)) void join_of(State* __restrict__ below,
                                                const State* __restrict__ top, int n) {
    for (int k = 0; k < n; ++k) below[k] = R::combine(below[k], top[k]);
  }
  static void join(void* below, const void* top, Index n) {
    join_of(states(below), static_cast<const State*>(top), static_cast<int>(n));
  }

  static void finish(void* to, const void* from, Index n) {
    auto* const results = static_cast<Stored<Result>*>(to);
    const auto* const done = static_cast<const State*>(from);
    for (Index k = 0; k < n; ++k) results[k] = Element<Result>::store(R::finish(done[k]));
  }

  static void extreme(void* found, const void* from, Index at, Index n) {
    if constexpr (has_extreme) {
      constexpr bool plain = op::is_float<T> || op::is_integer<T>;
      const auto* const values = static_cast<const Stored<T>*>(from);
      *states(found) = op::reduce::first_extremum<R, plain>(
          *states(found), 0, n, at, [&](Index k) HD_INLINE { return Element<T>::load(values[k]); });
    }
  }
};

template <class R, class T>
constexpr ReductionLoops loops_of() {
  using Loops = Reduced<R, T>;
  return {sizeof(typename R::State),
          Loops::identity,
          Loops::lanes,
          Loops::halve,
          Loops::columns,
          Loops::join,
          Loops::finish,
          Loops::extreme};
}

template <class R, class T, bool segmented>
struct Scanned {
  using State = typename R::State;
  using Row = op::scan::Running<R>;
  using Rows = op::scan::Running<R, scan_columns>;
  static State* states(void* pointer) { return static_cast<State*>(pointer); }

  template <class Running>
  static void begin(void* running) {
    new (running, Placed()) Running;
  }
  static void identity(void* to, Index n) {
    for (Index k = 0; k < n; ++k) states(to)[k] = R::identity();
  }
  static void lift(void* to, const void* from, const void* begins, Index n) {
    const auto* const values = static_cast<const Stored<T>*>(from);
    const auto* const restarts = static_cast<const unsigned char*>(begins);
    for (Index k = 0; k < n; ++k) {
      if constexpr (segmented) {
        states(to)[k] = R::lift(Element<T>::load(values[k]), restarts[k] != 0, 0);
      } else {
        states(to)[k] = R::lift(Element<T>::load(values[k]), 0);
      }
    }
  }
  static void add_run(void* running, void* run) {
    static_cast<Row*>(running)->add_run(*static_cast<State(*)[scan_run]>(run));
  }
  static void add_one(void* running, void* state) {
    static_cast<Row*>(running)->add(states(state), 1);
  }
  static void add_columns(void* running, void* row, Index width) {
    static_cast<Rows*>(running)->add(states(row), static_cast<int>(width));
  }
  static void finish(void* to, const void* from, Index n) {
    using Result = typename R::Result;
    const auto* const done = static_cast<const State*>(from);
    for (Index k = 0; k < n; ++k)
      static_cast<Stored<Result>*>(to)[k] = Element<Result>::store(R::finish(done[k]));
  }
};

template <class R, class T, bool segmented>
constexpr ScanLoops scan_loops_of() {
  using Loops = Scanned<R, T, segmented>;
  return {sizeof(typename R::State),
          sizeof(typename Loops::Row),
          sizeof(typename Loops::Rows),
          Loops::template begin<typename Loops::Row>,
          Loops::template begin<typename Loops::Rows>,
          Loops::identity,
          Loops::lift,
          Loops::add_run,
          Loops::add_one,
          Loops::add_columns,
          Loops::finish};
}

template <bool right, class T>
void search(void* to, const void* values, const void* sorted, Index count, Index n) {
  const auto* const elements = static_cast<const Stored<T>*>(sorted);
  for (Index k = 0; k < n; ++k) {
    static_cast<Index*>(to)[k] =
        op::search_sorted<right>(count, Element<T>::load(static_cast<const Stored<T>*>(values)[k]),
                                 [&](Index i) HD_INLINE { return Element<T>::load(elements[i]); });
  }
}
}  // namespace heddle_blocks

template <class... T>
constexpr int hd_count = sizeof...(T);

/// The loop `name`: to[k] = call(from[0][k], from[1][k] ...), for elements of these types.
#define HD_MAP(name, call, To, ...)                                                         \
  extern "C" void name(void* to, const void* const* from, heddle_blocks::Index n) {         \
    using namespace heddle_blocks;                                                          \
    map<To, __VA_ARGS__>([](auto... x) HD_INLINE -> To { return call(x...); }, to, from, n, \
                         typename SequenceOf<hd_count<__VA_ARGS__>>::Type());               \
  }

/// The loops `name` of the reduction op::reduce::reduction of elements of type T.
#define HD_REDUCE(name, reduction, T)                  \
  extern "C" const heddle_blocks::ReductionLoops name; \
  const heddle_blocks::ReductionLoops name =           \
      heddle_blocks::loops_of<heddle_scalar::reduce::reduction<T>, T>();

/// The loops `name` of the scan op::scan::scan of elements of type T, and `name`_segmented.
#define HD_SCAN(name, scan_op, T)                                                 \
  extern "C" const heddle_blocks::ScanLoops name, name##_segmented;               \
  const heddle_blocks::ScanLoops name =                                           \
      heddle_blocks::scan_loops_of<heddle_scalar::scan::scan_op<T>, T, false>();  \
  const heddle_blocks::ScanLoops name##_segmented = heddle_blocks::scan_loops_of< \
      heddle_scalar::scan::Segmented<heddle_scalar::scan::scan_op<T>>, T, true>();

/// The loop `name` of searchsorted, from the right or the left.
#define HD_SEARCH(name, right, T)                                            \
  extern "C" void name(void* to, const void* values, const void* sorted,     \
                       heddle_blocks::Index count, heddle_blocks::Index n) { \
    heddle_blocks::search<right, T>(to, values, sorted, count, n);           \
  }
