"""heddle.cuda on the tests' own driver, whose two GPUs run work as late as they may."""

from fake_gpus import run_on_fake_gpus


def test_devices_and_streams_on_fake_gpus():
    run_on_fake_gpus("""
        import threading
        import heddle as hd
        cuda = hd.cuda

        assert cuda.is_available() and cuda.runtime.getDeviceCount() == 2
        assert cuda.get_device_id() == 0
        with cuda.Device(1) as device:
            assert device.compute_capability == "90" and hd.device() == "cuda:1"
            stream = cuda.Stream()
            with cuda.Device(0):
                assert hd.device() == "cuda:0" and stream.device_id == 1
            x = hd.arange(4.0) + 1
        assert hd.device() == "cuda:0" and x.device == "cuda:1"
        assert repr(cuda.Device(1)) == "<CUDA Device 1>" and cuda.Device(0) < cuda.Device(1)
        assert cuda.Device.from_pci_bus_id(cuda.Device(1).pci_bus_id).id == 1
        assert cuda.runtime.getDeviceProperties(1)["major"] == 9
        assert cuda.runtime.deviceCanAccessPeer(0, 1) == 0
        cuda.runtime.setDevice(1)
        cuda.runtime.deviceSynchronize()
        cuda.runtime.setDevice(0)
        for wrong in (2, 7):
            try:
                cuda.Device(wrong)
            except hd.DeviceError as error:
                assert "2 GPUs" in str(error)
            else:
                raise AssertionError(wrong)

        urgent = cuda.Stream(priority=-1)
        seen = []
        with urgent:
            y = hd.arange(10.0) * 2
            urgent.launch_host_func(seen.append, 1)
        assert not urgent.done and seen == []
        urgent.synchronize()
        assert urgent.done and seen == [1]

        # What copies, or waits, lets a function run that waits for Python.
        with urgent:
            urgent.launch_host_func(seen.append, 2)
            z = hd.asarray([1.0, 2.0])
            assert z.tolist() == [1.0, 2.0] and seen == [1, 2]
            urgent.launch_host_func(seen.append, 3)
            assert hd.asnumpy(z)[1] == 2.0 and seen == [1, 2, 3]

        results = []
        def work():
            with cuda.Stream(non_blocking=True) as own:
                event = own.record()
                own.launch_host_func(results.append, threading.get_ident())
                own.synchronize()
                event.synchronize()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(results) == 4

        with cuda.Stream() as stream:
            stream.begin_capture()
            z = y + 1
            graph = stream.end_capture()
        graph.launch()
        del graph, z
        result = cuda.benchmark(lambda: y + 1, n_repeat=3, devices=(0, 1))
        assert result.gpu_times.shape == (2, 3) and "GPU-1" in str(result)
        print("done")
    """)


def test_pending_host_functions_run_before_the_end():
    run_on_fake_gpus("""
        import heddle as hd

        stream = hd.cuda.Stream()
        stream.launch_host_func(print, "done")
    """)


def test_failures_of_the_driver():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        from fake_gpus import control

        control = control()
        x = hd.asarray(np.arange(4.0)).eval()

        def everything():
            stream = hd.cuda.Stream()
            with stream:
                event = hd.cuda.Event()
                event.record()
                hd.cuda.Stream.null.wait_event(event)
                stream.launch_host_func(lambda _: None, None)
                x.get(stream, blocking=False)
            stream.synchronize()
            hd.cuda.Device().synchronize()
            return [stream, event]

        kept = []
        for function in ("cuStreamCreateWithPriority", "cuEventCreate", "cuEventRecord",
                         "cuStreamWaitEvent", "cuLaunchHostFunc", "cuMemcpyDtoHAsync_v2",
                         "cuStreamSynchronize"):
            control.fail(function.encode(), 999, 0)
            try:
                everything()
            except hd.DeviceError as error:
                assert function in str(error) and "999" in str(error), error
            else:
                raise AssertionError(function)
            assert hd.cuda.get_current_stream() == hd.cuda.Stream.null
            kept += everything()  # so that streams and events are made anew
            np.testing.assert_array_equal(hd.asnumpy(x), np.arange(4.0))
        print("done")
    """)
