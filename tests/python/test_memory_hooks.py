"""Memory hooks, on whatever device HEDDLE_DEVICE names."""

import gc
import io
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest

import heddle as hd

cuda = hd.cuda
LINE = "test_memory_hooks.py"


class Recorder(cuda.MemoryHook):
    """Keeps what it is told."""

    name = "Recorder"

    def __init__(self):
        self.events = []

    def __getattribute__(self, name):
        if name.endswith(("_preprocess", "_postprocess")):
            return lambda **facts: self.events.append((name, facts))
        return super().__getattribute__(name)

    def of(self, name):
        return [facts for event, facts in self.events if event == name]


@pytest.fixture(autouse=True)
def nothing_of_other_tests():
    gc.collect()
    hd.synchronize()
    hd.trim_memory()


def test_steps_of_a_block():
    device, hook = cuda.get_device_id(), Recorder()
    with cuda.using_allocator(cuda.MemoryPool().malloc), hook:
        x = hd.arange(1000.0).eval()
        pointer = hd.asnumpy(x)[0]
        assert pointer == 0
        del x
        hd.synchronize()
        gc.collect()
    names = [name for name, _ in hook.events]
    assert names == ["malloc_preprocess", "alloc_preprocess", "alloc_postprocess",
                     "malloc_postprocess", "free_preprocess", "free_postprocess"]
    before, reserve, reserved, given, freeing, freed = (facts for _, facts in hook.events)
    assert before == {"device_id": device, "size": 8000, "mem_size": 8192}
    assert reserve == {"device_id": device, "mem_size": 2 << 20}
    assert reserved["mem_ptr"] != 0 and given["mem_ptr"] != 0 and given["pmem_id"] != 0
    assert {name: given[name] for name in before} == before
    assert freeing == freed == {"device_id": device, "mem_size": 8192, "mem_ptr": given["mem_ptr"],
                                "pmem_id": given["pmem_id"]}


def test_only_what_is_recorded_inside_is_told():
    hook = Recorder()
    before = hd.arange(10.0) + 1
    with hook:
        inside = hd.arange(100.0) + 1
    after = hd.arange(1000.0) + 1
    hd.eval(before, inside, after)
    assert [facts["size"] for facts in hook.of("malloc_postprocess")] == [800]


def test_several_hooks_are_called_in_order():
    calls = []

    class Named(cuda.MemoryHook):
        def __init__(self, name):
            self.name = name

        def malloc_preprocess(self, **facts):
            calls.append(self.name)

    with Named("first"), Named("second"):
        hd.ones(3).eval()
        with pytest.raises(KeyError, match="first"):
            with Named("first"):
                pass
    assert calls == ["first", "second"]
    hd.ones(4).eval()
    assert len(calls) == 2


def test_errors_are_those_of_the_call_that_allocates():
    class Refusing(cuda.MemoryHook):
        def __init__(self, step):
            setattr(self, step, self.refuse)

        def refuse(self, **facts):
            raise LookupError("the hook says no")

    used = hd.get_default_memory_pool().used_bytes()
    for step in ("malloc_preprocess", "malloc_postprocess"):
        x = hd.arange(100.0) + 1
        with pytest.raises(LookupError, match="the hook says no"):
            with Refusing(step):
                x = hd.arange(100.0) + 1
                x.eval()
        assert x.sum().item() == 5050
        del x
    for step in ("alloc_preprocess", "alloc_postprocess"):
        pool = cuda.MemoryPool()
        with cuda.using_allocator(pool.malloc):
            with pytest.raises(LookupError):
                with Refusing(step):
                    x = hd.arange(100.0) + 1
                    x.eval()
            assert pool.total_bytes() == 0
            assert x.sum().item() == 5050
        del x
    hd.synchronize()
    assert hd.get_default_memory_pool().used_bytes() == used


def test_errors_at_the_freeing_go_to_the_unraisable_hook(monkeypatch):
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(str(args.exc_value)))

    class Refusing(cuda.MemoryHook):
        def free_postprocess(self, **facts):
            raise LookupError("never free")

    with Refusing():
        x = hd.ones(100).eval()
        del x
        hd.synchronize()
    assert found == ["never free"]


def test_a_hook_may_use_arrays():
    class Computing(cuda.MemoryHook):
        total, calls = 0, 0

        def malloc_postprocess(self, size, **facts):
            self.calls += 1
            self.total += int((hd.ones(7) * size).sum().item())

    hook = Computing()
    with hook:
        hd.ones(100).eval()
    assert hook.calls == 1 and hook.total == 7 * 800


def test_memory_of_other_threads_is_told():
    hook = Recorder()
    with hook:
        thread = threading.Thread(target=lambda: hd.ones(321).eval())
        thread.start()
        thread.join()
    assert 321 * 8 in [facts["size"] for facts in hook.of("malloc_postprocess")]


def test_many_threads():
    hook = Recorder()

    def work():
        for size in range(1, 60):
            assert (hd.arange(size) * 2).sum().item() == size * (size - 1)

    with hook:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(hook.of("malloc_preprocess")) == len(hook.of("malloc_postprocess")) > 0


def test_threads_wait_for_each_other():
    """A thread that waits for another one's evaluation lets that have the GIL for its hooks."""
    run("""
        import threading
        import numpy as np
        import heddle as hd

        class Hook(hd.cuda.MemoryHook):
            calls = 0
            def malloc_preprocess(self, **facts):
                self.calls += sum(range(200)) > 0
            def free_postprocess(self, **facts):
                sum(range(200))

        pool, errors = hd.cuda.MemoryPool(), []

        @hd.jit
        def scaled(x, y):
            return hd.sin(x) * y + x.sum()

        def work(i):
            try:
                for k in range(40):
                    x = shared[k % len(shared)]
                    [lambda: float((x * 2).sum()), lambda: np.asarray(hd.asnumpy(x)),
                     lambda: repr(x), lambda: scaled(x, x).eval(), lambda: (x + 1).tolist(),
                     lambda: x.__setitem__(slice(2, None), 1.0)][(i + k) % 6]()
            except Exception as error:
                errors.append(error)

        hook = Hook()
        hd.cuda.set_allocator(lambda size: pool.malloc(size))
        with hook:
            for repetition in range(3):
                shared = [hd.arange(100.0 + 10 * j) * 1.5 + repetition for j in range(6)]
                threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        assert hook.calls > 0 and not errors, errors
        print("done")
    """)


def test_a_failure_is_told():
    hook, pool = Recorder(), cuda.MemoryPool()
    pool.set_limit(size=2 << 20)
    with cuda.using_allocator(pool.malloc):
        with pytest.raises(hd.OutOfMemory), hook:
            hd.zeros(1 << 20).eval()
    assert hook.of("malloc_postprocess")[-1]["mem_ptr"] == 0


def test_debug_print():
    out = io.StringIO()
    with cuda.memory_hooks.DebugPrintHook(file=out), cuda.using_allocator(cuda.MemoryPool().malloc):
        x = hd.ones(1000).eval()
        del x
        hd.synchronize()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["hook"] for line in lines] == ["alloc", "malloc", "free"]
    assert lines[0]["mem_size"] == 2 << 20
    assert lines[1]["size"] == 8000 and lines[1]["mem_size"] == 8192
    assert lines[1]["what"].startswith("float64[1000]") and LINE in lines[1]["where"]
    assert lines[2]["pmem_id"] == lines[1]["pmem_id"] and lines[2]["pmem_id"].startswith("0x")


def test_line_profile(tmp_path):
    hook = cuda.memory_hooks.LineProfileHook()

    def small():
        return hd.ones(1000).eval()

    def large():
        y = hd.arange(1_000_000.0) + 1  # this line
        return y.eval()

    with hook, cuda.using_allocator(cuda.MemoryPool().malloc):
        kept = [small(), small(), large()]
    assert len(kept) == 3
    out = io.StringIO()
    hook.print_report(out)
    report = out.getvalue().splitlines()
    assert report[0].startswith("_root (7.65MB, ")
    assert any("test_line_profile" in line for line in report)
    assert any(":small (16.00KB, " in line or ":small (8.00KB, " in line for line in report)
    table = hook.table().splitlines()
    line = large.__code__.co_firstlineno + 1
    assert table[1].split()[0] == "7.63MB" and table[1].endswith(f"{LINE}:{line}")
    assert table[2].split()[:2] == ["16.00KB", "2"]
    assert len(hook.table(1).splitlines()) == 2
    page = tmp_path / "memory.html"
    hook.save_html(page)
    text = page.read_text()
    assert "<h1>Memory by line</h1>" in text and f"({LINE}:{line})" in text
    assert 'width:100.000%' in text and "<script" not in text
    assert sum(frame.used_bytes for frame in hook.memory_frames) == 8_000_000 + 2 * 8192
    shallow = cuda.memory_hooks.LineProfileHook(max_depth=1)
    with shallow:
        small()
    assert [frame.children for frame in shallow.memory_frames] == [{}]
    with pytest.raises(ValueError):
        cuda.memory_hooks.LineProfileHook(max_depth=-1)


def run(code):
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                             text=True, timeout=120, env=dict(os.environ))
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr
    assert "Error" not in process.stderr


def test_the_process_may_end_with_hooks_and_allocators_in_place():
    run("""
        import heddle as hd
        pool = hd.cuda.MemoryPool()
        hd.cuda.set_allocator(lambda size: pool.malloc(size))

        class Hook(hd.cuda.MemoryHook):
            def free_postprocess(self, **facts):
                pass

        hook = Hook().__enter__()
        x = hd.ones(1000).eval()
        pending = hd.ones(1000) + x
        print("done")
    """)


@pytest.mark.skipif(cuda.get_device_id() >= 0, reason="a GPU cannot be used after a fork")
def test_forks_with_hooks():
    run("""
        import os
        import threading
        import heddle as hd

        class Hook(hd.cuda.MemoryHook):
            calls = 0
            def malloc_postprocess(self, **facts):
                self.calls += 1

        hook, stop = Hook(), threading.Event()

        def work():
            while not stop.is_set():
                (hd.arange(1000.0) + 1).eval()

        with hook:
            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    before = hook.calls
                    hd.ones(10).eval()
                    os._exit(0 if hook.calls > before else 1)
                assert os.waitpid(child, 0)[1] == 0
            stop.set()
            thread.join()
        print("done")
    """)
