"""numpy.random's module-level functions, which use one global generator, and RandomState. For
programs that do not create a Generator. The numbers differ from NumPy's; equal seeds give equal
numbers."""

import functools
import inspect
import operator

from heddle import _heddle

_NAME = "Philox4x32-10"
_Generator, _default_rng = _heddle.random.Generator, _heddle.random.default_rng
# Methods that are the same as in Generator.
_SAME = ("beta binomial bytes chisquare dirichlet exponential f gamma geometric gumbel hypergeometric "
         "integers laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial "
         "noncentral_chisquare noncentral_f normal pareto permutation poisson power rayleigh shuffle standard_cauchy "
         "standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises "
         "wald weibull zipf").split()


class RandomState:
    """numpy.random.RandomState: the methods of a Generator under their older names. Without a seed,
    the operating system provides one."""

    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        """Restarts the generator with a seed: numpy.random.seed. Raises TypeError unless it is an
        integer or None."""
        self._generator = _default_rng(seed if seed is None else operator.index(seed))

    def get_state(self, legacy=True):
        """The state, for set_state: numpy.random.get_state. The tuple (name, key, position, 0, 0.0),
        or a dict with legacy=False."""
        key, draws, children = self._generator._state()
        if legacy:
            return _NAME, (key, children), draws, 0, 0.0
        return {"bit_generator": _NAME, "state": {"key": (key, children), "pos": draws}}

    def set_state(self, state):
        """Continues from what get_state gave: numpy.random.set_state. Raises ValueError for the state
        of another generator."""
        if isinstance(state, dict):
            state = (state["bit_generator"], state["state"]["key"], state["state"]["pos"])
        if state[0] != _NAME:
            raise ValueError(f"set_state: the state must be one of a {_NAME} generator, not {state[0]}")
        (key, children), draws = state[1], state[2]
        self._generator._restore((key, draws, children))

    def rand(self, *args):
        """Samples from the uniform distribution on [0, 1); the arguments are the shape: numpy.random.rand."""
        return self._generator.random(args or None)

    def randn(self, *args):
        """Samples from the standard normal distribution; the arguments are the shape: numpy.random.randn."""
        return self._generator.standard_normal(args or None)

    def randint(self, low, high=None, size=None, dtype=None):
        """Random integers in [low, high), or in [0, low) without high: numpy.random.randint."""
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Random integers in [low, high], or in [1, low] without high: numpy.random.random_integers."""
        low, high = (1, low) if high is None else (low, high)
        return self._generator.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Random int64 that are not negative: numpy.random.RandomState.tomaxint."""
        return self._generator.integers(0, 2**63 - 1, size, endpoint=True)

    def random_sample(self, size=None):
        """Samples from the uniform distribution on [0, 1): numpy.random.random_sample."""
        return self._generator.random(size)

    random = ranf = sample = random_sample

    def choice(self, a, size=None, replace=True, p=None):
        """Random elements of a, or of range(a): numpy.random.choice."""
        return self._generator.choice(a, size, replace, p)

    def __getattr__(self, name):
        if name in _SAME:
            # Looks the generator up at each call: seed() replaces it.
            @functools.wraps(getattr(_Generator, name))
            def method(*args, **kwargs):
                return getattr(self._generator, name)(*args, **kwargs)

            return method
        raise AttributeError(f"RandomState has no {name}; see heddle.random.Generator")


_state = RandomState()


def get_random_state():
    """The state that the module's functions use: cupy.random.get_random_state."""
    return _state


def set_random_state(rs):
    """Makes the module's functions use a RandomState: cupy.random.set_random_state. Raises TypeError
    for another object."""
    global _state
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state: takes a RandomState, not {type(rs).__name__}")
    _state = rs


def reset_states():
    """Restarts the module's functions with a seed of the operating system:
    cupy.random.reset_states."""
    set_random_state(RandomState())


def _function(name):
    """The module-level function that calls a method of the global state."""
    def call(*args, **kwargs):
        return getattr(_state, name)(*args, **kwargs)

    own = getattr(RandomState, name, None)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = own.__doc__ if own else (
        f"heddle.random.Generator.{name} of the module's global generator: numpy.random.{name}.")
    call.__module__ = "heddle.random"
    signature = inspect.signature(own or getattr(_Generator, name))
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return call


def install(module):
    """Adds the functions to heddle.random."""
    module.RandomState = RandomState
    RandomState.__module__ = "heddle.random"
    for name in ("seed get_state set_state rand randn randint random_integers random_sample random ranf sample "
                 "choice".split() + _SAME):
        setattr(module, name, _function(name))
    for function in (get_random_state, reset_states, set_random_state):
        function.__module__ = "heddle.random"
        setattr(module, function.__name__, function)
