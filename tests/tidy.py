#!/usr/bin/env python3
"""clang-tidy over one file, unless exactly this text was clean before.

    tests/tidy.py FILE.cc

What clang-tidy says depends on the preprocessed text (comments included, which may silence it), the file and our headers
as they are written, its version and .clang-tidy alone; the hash of them is remembered in $XDG_CACHE_HOME/trelu-tidy once there was nothing to say. Needs
build/release/compile_commands.json and the generated headers. Exit status: clang-tidy's.
"""
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATABASE = ROOT / "build/release"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "trelu-tidy"


def flags_of(file):
    """The file's own -D, -I, -isystem and -std flags."""
    commands = json.loads((DATABASE / "compile_commands.json").read_text())
    words = iter(shlex.split(next(entry["command"] for entry in commands if entry["file"] == str(ROOT / file))))
    for word in words:
        if word == "-isystem":
            yield from (word, next(words))
        elif word.startswith(("-D", "-I", "-std=")):
            yield word


def key_of(file):
    text = subprocess.run(["clang++-14", "-E", "-C", "-P", "-w", *flags_of(file), str(ROOT / file)],
                          cwd=DATABASE, check=True, capture_output=True).stdout
    listed = subprocess.run(["clang++-14", "-MM", "-w", *flags_of(file), str(ROOT / file)],
                            cwd=DATABASE, check=True, capture_output=True, text=True).stdout
    ours = [pathlib.Path(DATABASE, name).read_bytes() for name in listed.replace("\\\n", " ").split()[1:]]
    version = subprocess.run(["clang-tidy-14", "--version"], check=True, capture_output=True).stdout
    whole = hashlib.sha256()
    for part in (file.encode(), version, (ROOT / ".clang-tidy").read_bytes(),
                 text.replace(str(ROOT).encode(), b""), *ours):
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def main(file):
    known = CACHE / key_of(file)
    if known.exists():
        print(f"  ok {file} (as before)", flush=True)
        return 0
    status = subprocess.run(["clang-tidy-14", "--quiet", "-p", str(DATABASE), file], cwd=ROOT,
                            stderr=subprocess.DEVNULL, check=False).returncode
    if status == 0:
        CACHE.mkdir(parents=True, exist_ok=True)
        known.touch()
        print(f"  ok {file}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
