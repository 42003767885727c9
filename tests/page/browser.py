"""Chromium without a window, driven through its DevTools protocol over a pipe: needs nothing but
Python's own library."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's file, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, path, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="heddle-browser-")
        there, self.out = os.pipe()
        self.inbox, back = os.pipe()

        def connect():  # as file descriptors 3 and 4, of which either may be one of the pipes'
            kept = os.dup(there), os.dup(back)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--hide-scrollbars", "--force-color-profile=srgb",
             f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.buffer = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(self.timeout)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inbox)
        # Its helpers may be about to write there still.
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        end = time.monotonic() + self.timeout
        while b"\0" not in self.buffer:
            part = os.read(self.inbox, 1 << 20)
            if not part or time.monotonic() > end:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, width=1600, height=1000, dark=False):
        return Page(self, address, width, height, dark)


class Page:
    """A page that was loaded; `errors` is what its console says went wrong, `requests` what it asked
    for beside itself."""

    def __init__(self, browser, address, width, height, dark):
        self.browser = browser
        self.address = address
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height, dark)
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def own_events(self, *methods):
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in methods]

    def wait_for(self, method):
        while not self.own_events(method):
            self.browser.events.append(self.browser.receive())

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", details).get("description", details["text"]))
        return result["result"].get("value")

    def press(self, key):
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key,
                  **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    @property
    def errors(self):
        self.evaluate("0")  # so that what was said before has arrived
        said = [event for event in self.own_events("Runtime.consoleAPICalled")
                if event["type"] in ("error", "warning", "assert")]
        return (said + self.own_events("Runtime.exceptionThrown") +
                [event for event in self.own_events("Log.entryAdded")
                 if event["entry"]["level"] in ("error", "warning")])

    @property
    def requests(self):
        self.evaluate("0")
        urls = [event["request"]["url"] for event in self.own_events("Network.requestWillBeSent")]
        return [url for url in urls if url != self.address and not url.startswith("data:")]

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
