"""README.md and docs/: the Python blocks run and print what the pages say, commands exist, links lead
somewhere. C++ blocks: tests/documents."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/documents"))
sys.path.insert(0, str(ROOT / "tools"))
import draw_documents  # noqa: E402
import environment_table  # noqa: E402
import snippets  # noqa: E402

PAGES = {page.relative_to(ROOT).as_posix(): page for page in snippets.pages()}
WITH_PYTHON = [name for name, page in PAGES.items()
               if any(block.language == "python" for block in snippets.blocks(page))]
COMMAND = Path(os.environ["PYTHONPATH"].split(":")[0]).parent / "heddle"


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_python(name, tmp_path):
    environment = {**os.environ, "HEDDLE_DEVICE": "cpu", "HEDDLE_POISON": "0"}
    run = subprocess.run([sys.executable, snippets.__file__, "run", PAGES[name]], cwd=tmp_path,
                         env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_there_are_snippets():
    blocks = [block for page in PAGES.values() for block in snippets.blocks(page)]
    for language in ("python", "cpp"):
        assert sum(block.language == language and block.printed is not None for block in blocks) > 10


def test_the_page_of_cupys_tests_names_tests_that_exist():
    page = (ROOT / "docs/reference/cupy-tests.md").read_text()
    python = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", page))
    cases = set(re.findall(r'`([\w/]+\.cpp)`: "([^"]+)"', page))
    assert len(python) > 90 and len(cases) > 10
    # Nothing that looks like a test of ours is left out by these patterns.
    assert page.count("::") == len(re.findall(r"`test_\w+\.py::test_\w+`", page))
    for file, name in python:
        text = (ROOT / "tests/python" / file).read_text()
        assert re.search(rf"^def {name}\(", text, re.M), (file, name)
    for file, name in cases:
        assert f'TEST_CASE("{name}"' in (ROOT / file).read_text(), (file, name)


def commands():
    """The command lines of the pages' sh blocks: (page, words)."""
    for name, page in PAGES.items():
        for block in snippets.blocks(page):
            if block.language == "sh":
                for line in block.text.replace("\\\n", " ").splitlines():
                    words = re.sub(r"(^|\s)#.*|>.*", "", line).split()
                    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                        words.pop(0)
                    if words:
                        yield name, words


@functools.cache
def help_of(*words):
    run = subprocess.run([*words, "--help"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, words
    return run.stdout


def help_of_command(words):
    """What `heddle` says of the verb, and of the verb of `cache`, that the words call."""
    text = help_of(COMMAND) if words[1].startswith("-") else help_of(COMMAND, words[1])
    if words[1] == "cache":
        verbs = re.findall(r"^  ([a-z]+) ", text, re.M)
        text += help_of(COMMAND, "cache", next(word for word in words[2:] if word in verbs))
    return text


def test_commands_exist():
    verbs = set(re.findall(r"^  ([a-z-]+)", help_of(ROOT / "dev"), re.M))
    checked = 0
    for name, words in commands():
        if words[0] == "./dev" and len(words) > 1:
            assert words[1] in verbs, (name, words)
            checked += 1
        if words[0] == "heddle" and len(words) > 1 and COMMAND.exists():
            text = help_of_command(words)
            for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
                assert re.search(rf"(^|[\s,]){flag}\b", text, re.M), (name, words)
            checked += 1
    assert checked > 10


def anchor(heading):
    """The name of a heading in links, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_links_lead_somewhere():
    for name, page in PAGES.items():
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
            path, _, heading = "".join(target).partition("#")
            if "://" in path:
                continue
            file = (page.parent / path) if path else page
            assert file.exists(), (name, path)
            if heading:
                headings = re.findall(r"^#+ +(.*)$", file.read_text(), re.M)
                assert heading in map(anchor, headings), (name, heading)


def test_every_header_is_in_the_reference():
    listed = set()
    for page in (ROOT / "docs/reference/cpp").glob("*.md"):
        listed |= set(re.findall(r"^```{doxygenfile} (\S+)", page.read_text(), re.M))
    headers = {header.name for folder in ("frontend", "ir")
               for header in (ROOT / folder / "include/heddle").glob("*.h")}
    assert listed == headers - {"heddle.h"}


def test_table_of_variables_is_fresh():
    wanted = environment_table.page_with(environment_table.table())
    assert environment_table.PAGE.read_text() == wanted, "run tools/environment_table.py"


def test_pictures_are_fresh():
    for name, draw in draw_documents.DRAWINGS.items():
        path = draw_documents.PICTURES / f"{name}.svg"
        assert path.read_text() == draw().svg(), f"{path.name}: run tools/draw_documents.py"
