"""The page that `heddle explain --html` writes, in a real browser: what the JSON says is there, and
what is clicked shows what belongs to it."""

import json
import os
import subprocess
import urllib.request

import pytest

import browser

HEDDLE = os.environ["HEDDLE_COMMAND"]

CHAIN = """func @chain(%0: f32[1000,64], %1: f32[64], %2: scalar f32) -> f32[1000,64] {
  %3 = constant 2.0 : f32[]
  %4 = multiply %0, %1 : f32[1000,64]
  %5 = add %4, %2 : f32[1000,64]
  %6 = power %5, %3 : f32[1000,64]
  %7 = tanh %6 : f32[1000,64]
  return %7
}
"""
SOFTMAX = """func @softmax(%0: f32[512,96]) -> f32[512,96] {
  %1 = max %0 axes=[1] keepdims : f32[512,1]
  %2 = subtract %0, %1 : f32[512,96]
  %3 = exp %2 : f32[512,96]
  %4 = sum %3 axes=[1] keepdims : f32[512,1]
  %5 = divide %3, %4 : f32[512,96]
  return %5
}
"""
MLP = """func @mlp(%0: f32[64,32], %1: f32[32,48], %2: f32[48], %3: f32[48,16]) -> (f32[64,16], f32[64,48]) {
  %4 = call matmul %0, %1 : f32[64,48]
  %5 = add %4, %2 : f32[64,48]
  %6 = tanh %5 : f32[64,48]
  %7 = call matmul %6, %3 : f32[64,16]
  %8 = exp %7 : f32[64,16]
  %9 = cumsum %6 axes=[0] : f32[64,48]
  return %8, %9
}
"""
SYMBOLIC = """func @rows(%0: f32[n,m]) -> f32[n,m] {
  %1 = max %0 axes=[1] keepdims : f32[n,1]
  %2 = subtract %0, %1 : f32[n,m]
  return %2
}
"""
# What an element would be made of if a name became markup.
ODD_NAME = "x</script><script>window.broken = 1</script><img src=y onerror='window.broken = 2'>&amp;\\\""
ODD = CHAIN.replace("@chain", f'@"{ODD_NAME}"')
ODD_FILE = "a<b>&\"quoted\" 'file'.hd"

PROGRAMS = {"chain.hd": CHAIN, "softmax.hd": SOFTMAX, "mlp.hd": MLP, "rows.hd": SYMBOLIC, ODD_FILE: ODD}


@pytest.fixture(scope="module")
def chromium():
    path = browser.find()
    if path is None:
        if os.environ.get("HEDDLE_REQUIRE_BROWSER") == "1":
            pytest.fail("there is no Chromium (tools/setup.sh installs it)")
        pytest.skip("there is no Chromium")
    with browser.Browser(path) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("page")
    for name, text in PROGRAMS.items():
        (made / name).write_text(text)
    return made


def explain(folder, name, *arguments):
    """The report as JSON, and the page's address."""
    page = folder / "page.html"
    words = [HEDDLE, "explain", str(folder / name), *arguments]
    words += ["--json", "--html", str(page)]
    report = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return json.loads(report), "file://" + urllib.request.pathname2url(str(page))


def source_from(kernel, first):
    return kernel["source"].rstrip("\n").split("\n")[first - 1:]


SHOWN_SOURCE = "[...document.querySelectorAll('#inspector .source li > code')].map((e) => e.textContent)"


@pytest.mark.parametrize("target", [("--target", "sm_90:h200"), ("--target", "x86-64-v3")])
@pytest.mark.parametrize("name", ["chain.hd", "softmax.hd", "mlp.hd", "rows.hd"])
def test_page(chromium, folder, name, target):
    report, address = explain(folder, name, *target)
    with chromium.open(address) as page:
        check_contents(page, report)
        check_passes(page, report)
        check_groups(page, report)
        check_kernels(page, report)
        check_nodes(page, report)
        check_memory(page, report)
        assert page.errors == []
        assert page.requests == []


def check_contents(page, report):
    assert page.evaluate("document.querySelector('h1').textContent") == report["program"]
    assert page.evaluate("document.title").startswith(report["program"])
    text = page.evaluate("document.body.textContent")
    for cut in report["cuts"]:
        assert cut["reason"] in text
    assert page.evaluate("document.querySelectorAll('[data-cut]').length") == len(report["cuts"])
    for step in report["steps"]:
        assert step["what"] in text
    shown = page.evaluate("[...document.querySelectorAll('[data-buffer]')].map((e) => e.dataset.buffer)")
    wanted = [f"t{i}" for i in range(len(report["temporaries"]))]
    wanted += [f"%{i}" for i in range(len(report["inputs"]))]
    wanted += [f"output {i}" for i in range(len(report["outputs"]))]
    assert shown == wanted
    drawn = page.evaluate("document.querySelectorAll('g.node').length")
    assert drawn == len(report["graphs"][-1]["nodes"])


def check_passes(page, report):
    shown = page.evaluate("[...document.querySelectorAll('[data-pass]')].map((e) => e.dataset.pass)")
    assert shown == [entry["name"] for entry in report["passes"]]
    for index, entry in enumerate(report["passes"]):
        page.evaluate(f"document.querySelectorAll('[data-pass]')[{index}].click()")
        view = page.evaluate("document.getElementById('pass-view').textContent")
        assert entry["why"] in view
        lines = page.evaluate("[...document.querySelectorAll('#pass-view li')].map("
                              "(e) => [e.className, e.querySelector('code').textContent])")
        assert len(lines) == len(entry["changes"])
        for (kind, text), change in zip(lines, entry["changes"]):
            removed = change["after"] is None
            graph = report["graphs"][entry["before" if removed else "after"]]
            assert text == graph["nodes"][change["before" if removed else "after"]]["text"]
            assert kind == ("removed" if removed else "added" if change["before"] is None
                            else "rewired" if change["rewired"] else "")


def check_groups(page, report):
    for group in report["groups"]:
        page.evaluate(f"document.querySelector('#graph [data-group=\"{group['id']}\"]').click()")
        assert page.evaluate("document.getElementById('inspector').dataset.group") == str(group["id"])
        nodes = page.evaluate("document.querySelectorAll('g.node.in-group').length")
        assert nodes == len(group["members"])
        if group["kernels"]:
            lines = page.evaluate(SHOWN_SOURCE)
            kernels = [report["kernels"][index] for index in group["kernels"]]
            assert lines in [source_from(kernel, kernel["body"]) for kernel in kernels]


def check_kernels(page, report):
    """Rows of steps, by pointer and by keys."""
    rows = len(report["steps"])
    for index, step in enumerate(report["steps"]):
        page.evaluate(f"document.querySelectorAll('.steps tbody tr')[{index}].click()")
        if not step["kernels"]:
            continue
        kernel = report["kernels"][step["kernels"][0]]
        assert page.evaluate("document.getElementById('inspector').dataset.kernel") == kernel["name"]
        assert page.evaluate(SHOWN_SOURCE) == source_from(kernel, kernel["body"])
        first = page.evaluate("Number(document.querySelector('#inspector .source .line').textContent)")
        assert first == kernel["body"]
        facts = page.evaluate("document.querySelector('#inspector .facts').textContent")
        assert kernel["plan"] in facts and kernel["module"] in facts
        if kernel["resources"]:
            assert f"registers{kernel['resources']['registers']}" in facts
    page.evaluate("document.querySelector('.steps tbody tr').focus()")
    for _ in range(rows - 1):
        page.press("ArrowDown")
    page.press("Enter")
    chosen = page.evaluate("document.querySelector('.steps [aria-selected=true]').dataset.step")
    assert chosen == str(rows - 1)
    page.evaluate("document.querySelector('#inspector .bar button')?.click()")
    shown = report["steps"][-1]["kernels"]
    if shown:
        assert page.evaluate(SHOWN_SOURCE) == source_from(report["kernels"][shown[0]], 1)
        page.evaluate("document.querySelector('#inspector .bar button').click()")


def check_nodes(page, report):
    """A node marks the lines that compute it, and shows the user's line."""
    user_lines = {(line["file"], line["line"]): line["text"] for line in report["user_lines"]}
    nodes = report["graphs"][-1]["nodes"]
    for step in report["steps"]:
        for index in step["kernels"]:
            for number in report["kernels"][index]["nodes"]:
                page.evaluate(f"select_kernel({index})")
                item = f"document.querySelector('#inspector .nodes [data-node=\"{number}\"]')"
                page.evaluate(f"{item}.click()")
                marked = page.evaluate("[...document.querySelectorAll('.source li.selected')].map("
                                       "(e) => Number(e.dataset.line))")
                lines = report["kernels"][index]["lines"]
                assert marked == [line["line"] for line in lines if line["node"] == number]
                text = page.evaluate(f"{item}.textContent")
                node = nodes[number]
                assert node["text"] in text
                if "file" in node:
                    assert f":{node['line']}" in text
                    assert user_lines[(node["file"], node["line"])].strip() in text


def check_memory(page, report):
    drawn = page.evaluate("[...document.querySelectorAll('g.temporary')].map((e) => {"
                          "const box = e.querySelector('rect');"
                          "return ['x', 'y', 'width', 'height'].map((k) => Number(box.getAttribute(k)));})")
    if report["arena_bytes"] is None:
        assert drawn == []
        assert "symbolic" in page.evaluate("document.getElementById('memory').textContent")
        return
    temporaries = report["temporaries"]
    assert len(drawn) == len(temporaries)
    # Rectangles of what lives at one step do not overlap.
    for i, (x, y, width, height) in enumerate(drawn):
        for other_x, other_y, other_width, other_height in drawn[:i]:
            beside = x >= other_x + other_width or other_x >= x + width
            assert beside or y >= other_y + other_height - 0.01 or other_y >= y + height - 0.01


def test_what_needs_escaping_is_shown(chromium, folder):
    report, address = explain(folder, ODD_FILE, "--target", "sm_90")
    assert "</script>" in report["program"]
    with chromium.open(address) as page:
        assert page.evaluate("document.querySelector('h1').textContent") == report["program"]
        assert page.evaluate("window.broken === undefined && document.images.length === 0")
        assert page.evaluate("document.scripts.length") == 2
        titles = page.evaluate("[...document.querySelectorAll('.place')].map((e) => e.title)")
        assert any(ODD_FILE in title for title in titles)
        assert page.errors == []
        assert page.requests == []


def test_a_run_has_times_and_a_ceiling(chromium, folder):
    report, address = explain(folder, "softmax.hd", "--run", "--random", "1", "--repeat", "3")
    assert report["run"]["device"] == "cpu"
    assert report["steps"][0]["microseconds"] > 0
    assert 0 < report["steps"][0]["share_of_ceiling"]
    with chromium.open(address) as page:
        assert report["run"]["ceiling"]["origin"] in page.evaluate(
            "document.getElementById('steps').textContent")
        percent = round(100 * report["steps"][0]["share_of_ceiling"])
        assert page.evaluate("document.querySelector('.share').textContent") in (
            f"{percent} %", f"{percent + 1} %", f"{percent - 1} %")
        assert page.errors == []


def test_without_nvrtc_the_page_says_so(chromium, folder, monkeypatch):
    monkeypatch.setenv("HEDDLE_NVRTC", "libm.so.6")  # which keeps the one here from being found
    report, address = explain(folder, "softmax.hd", "--target", "sm_80")
    assert report["kernels"][0]["resources"] is None
    assert "cannot be compiled for a GPU" in report["no_resources"]
    with chromium.open(address) as page:
        check_contents(page, report)
        words = page.evaluate("document.getElementById('steps').textContent")
        assert report["no_resources"].split("\n")[0] in words
        assert page.errors == []


def test_long_differences_fold_what_stays_the_same(chromium, folder):
    lines = ["func @long(%0: f32[64]) -> f32[64] {", "  %1 = constant 2.0 : f32[]"]
    for number in range(2, 102):
        op = f"power %{number - 1 if number > 2 else 0}, %1" if number == 60 else \
            f"sin %{number - 1 if number > 2 else 0}"
        lines.append(f"  %{number} = {op} : f32[64]")
    (folder / "long.hd").write_text("\n".join([*lines, "  return %101", "}", ""]))
    report, address = explain(folder, "long.hd", "--target", "x86-64-v3")
    entry = next(each for each in report["passes"] if each["name"] == "simplify")
    with chromium.open(address) as page:
        shown = "document.querySelectorAll('#pass-view li:not(.fold)').length"
        assert page.evaluate(shown) < 30
        assert page.evaluate("document.querySelectorAll('#pass-view .added').length") == 1
        page.evaluate("document.querySelectorAll('.fold button').forEach((each) => each.click())")
        assert page.evaluate(shown) == len(entry["changes"])
        texts = page.evaluate("[...document.querySelectorAll('#pass-view code')].map("
                              "(each) => each.textContent)")
        after = [node["text"] for node in report["graphs"][entry["after"]]["nodes"]]
        assert [text for text in texts if text in after] == after
        assert page.errors == []


def test_narrow_pages_scroll_in_parts_only(chromium, folder):
    _, address = explain(folder, "mlp.hd", "--target", "sm_90:h200")
    for width in (390, 800, 1400):
        with chromium.open(address, width=width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
