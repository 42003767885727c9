"""What heddle.cuda keeps, waits for and lets go, on the tests' own driver."""

from fake_gpus import run_on_fake_gpus


def test_a_trim_waits_for_functions_that_free_memory():
    run_on_fake_gpus("""
        import faulthandler, threading, time
        import numpy as np, heddle as hd

        faulthandler.dump_traceback_later(60, exit=True)
        stream = hd.cuda.Stream(non_blocking=True)
        pool = hd.get_default_memory_pool()
        x, z, other = (hd.asarray(np.arange(1000.0)).eval() for _ in range(3))
        stream.launch_host_func(lambda _: None, x)
        with stream:
            w = z * 2
        del z, x
        pool.free_all_blocks()

        z = hd.asarray(np.arange(1000.0)).eval()
        stream.launch_host_func(lambda _: time.sleep(0.5), None)
        with stream:
            w = z * 2
        del z
        thread = threading.Thread(target=pool.free_all_blocks)
        thread.start()
        time.sleep(0.1)
        del other
        thread.join()
        print("done")
    """)


def test_streams_that_others_destroy():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        from fake_gpus import ForeignStream

        x = hd.asarray(np.arange(1000.0)).eval()
        for blocking in (True, False):
            foreign = ForeignStream()
            found = x.get(foreign, blocking=blocking)
            hd.cuda.ExternalStream(foreign.ptr).synchronize()
            np.testing.assert_array_equal(found, np.arange(1000.0))
            foreign.destroy()
        foreign = ForeignStream()
        with hd.cuda.ExternalStream(foreign.ptr):
            y = x * 2
        del y
        foreign.destroy()
        del x

        foreign = ForeignStream()
        with hd.cuda.ExternalStream(foreign.ptr):
            y = hd.asarray(np.arange(1000.0)).eval()
        del y
        foreign.destroy()
        kept = [hd.asarray(np.arange(100000.0)).eval() for _ in range(100)]
        hd.get_default_memory_pool().free_all_blocks()
        print("done")
    """)


def test_references_are_dropped_on_python_threads():
    run_on_fake_gpus("""
        import threading
        import numpy as np, heddle as hd
        from fake_gpus import control

        control = control()
        threads = []
        class Noisy:
            def __del__(self): threads.append(threading.current_thread())
        stream, other = hd.cuda.Stream(non_blocking=True), hd.cuda.Stream(non_blocking=True)
        stream.launch_host_func(lambda _: None, Noisy())
        stream.synchronize()
        assert threads == [threading.main_thread()]

        def in_a_thread():
            stream.launch_host_func(lambda _: None, Noisy())
            stream.synchronize()
        thread = threading.Thread(target=in_a_thread)
        thread.start()
        thread.join()
        assert len(threads) == 2

        # Freeing z marks the other stream, which the driver forbids to its threads.
        z = hd.asarray(np.arange(1000.0)).eval()
        with other:
            w = z * 2
        stream.launch_host_func(lambda _: None, z)
        del z
        stream.synchronize()

        before = control.calls(b"cuStreamCreateWithPriority")
        for _ in range(20):
            each = hd.cuda.Stream()
            each.launch_host_func(lambda _: None, None)
            each.synchronize()
        del each
        assert control.calls(b"cuStreamCreateWithPriority") <= before + 3
        print("done")
    """)


def test_a_copy_whose_keeper_is_refused():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        from fake_gpus import control

        control = control()
        x = hd.asarray(np.arange(4.0)).eval()
        stream = hd.cuda.Stream()
        waits = control.calls(b"cuStreamSynchronize")
        control.fail(b"cuLaunchHostFunc", 999, 0)
        try:
            x.get(stream, out=np.zeros(4), blocking=False)
        except hd.DeviceError as error:
            assert "cuLaunchHostFunc" in str(error)
        else:
            raise AssertionError
        assert control.calls(b"cuStreamSynchronize") > waits
        print("done")
    """)


def test_streams_and_events_of_other_devices():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        cuda = hd.cuda

        with cuda.Device(1):
            other = cuda.Stream()
        x = hd.asarray(np.arange(4.0)).eval()
        for call in (lambda: x.set(np.ones(4), stream=other), lambda: x.get(other),
                     lambda: cuda.Stream().begin_capture(7)):
            try:
                call()
            except ValueError:
                pass
            else:
                raise AssertionError(call)
        np.testing.assert_array_equal(hd.asnumpy(x), np.arange(4.0))
        other.record().synchronize()
        own = cuda.Stream()
        assert cuda.ExternalStream(own.ptr) == own
        pending = x + 1
        own.launch_host_func(lambda _: None, None)
        assert cuda.runtime.streamQuery(0) in (0, cuda.runtime.cudaErrorNotReady)
        cuda.runtime.streamSynchronize(0)
        assert cuda.Stream.null.done and cuda.runtime.streamQuery(0) == 0

        blocking = cuda.Stream()
        with blocking:
            blocking.begin_capture()
            y = x + 1
            assert cuda.ExternalStream(0).is_capturing()
            graph = blocking.end_capture()
        assert not cuda.ExternalStream(0).is_capturing()
        print("done")
    """)
