"""Graphs that users capture, on the tests' own driver."""

from fake_gpus import run_on_fake_gpus


def test_graphs_keep_what_they_copy():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        def used(): return hd.memory_statistics()["in_use"]
        pool = hd.get_default_memory_pool()
        stream = hd.cuda.Stream(non_blocking=True)
        x = hd.asarray(np.arange(100_000.0)).eval()
        before = used()
        with stream:
            stream.begin_capture()
            source = np.arange(100_000.0)
            w = hd.asarray(source)
            source[:] = -1
            found = w.get(blocking=False)
            other = x.get(blocking=False)
            graph = stream.end_capture()
        del w, source
        assert used() >= before + 800_000
        for _ in range(2):
            found[:] = other[:] = 0
            others = [hd.full(100_000, -1.0).eval() for _ in range(4)]
            graph.launch(stream)
            stream.synchronize()
            np.testing.assert_array_equal(found, np.arange(100_000.0))
            np.testing.assert_array_equal(other, np.arange(100_000.0))
        del others, graph
        pool.free_all_blocks()
        assert used() == before
        with stream:
            stream.begin_capture()
            w = hd.arange(200_000.0) * 2
            graph = stream.end_capture()
        del w, graph
        limit = hd.set_memory_limit(hd.memory_statistics()["reserved"])
        large = hd.asarray(np.ones(200_000)).eval()
        hd.set_memory_limit(limit)
        print("done")
    """)


def test_feeding_a_graph():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        stream = hd.cuda.Stream(non_blocking=True)
        new = np.frombuffer(hd.cuda.alloc_pinned_memory(80), np.float64, 10)
        new[:] = 0
        with stream:
            stream.begin_capture()
            result = hd.asarray(new[2:6]).get(blocking=False)
            graph = stream.end_capture()
        for i in range(3):
            new[2:6] = i
            graph.launch(stream)
            stream.synchronize()
            np.testing.assert_array_equal(result, np.full(4, i))
        print("done")
    """)


def test_reading_during_a_capture():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        stream = hd.cuda.Stream(non_blocking=True)
        x = hd.asarray(np.arange(4.0)).eval()
        with stream:
            stream.begin_capture()
            y = x + 1
            for read in (hd.asnumpy, lambda y: y.get(), lambda y: float(y[0])):
                try:
                    read(y)
                except hd.DeviceError as error:
                    assert "captured" in str(error) and "end_capture" in str(error), error
                else:
                    raise AssertionError
            graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
        print("done")
    """)


def test_captures_that_fail():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        from fake_gpus import control

        stream = hd.cuda.Stream(non_blocking=True)
        x = hd.asarray(np.arange(4.0)).eval()
        with stream:
            stream.begin_capture()
            z = x * 2
            control().fail(b"cuLaunchKernel", 999, 0)
            try:
                stream.end_capture()
            except hd.DeviceError:
                pass
            else:
                raise AssertionError
            assert not stream.is_capturing()
            stream.begin_capture()
            z = x * 2
            graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
        print("done")
    """)
