#!/usr/bin/env python3
"""Instructions that a request takes from decode to encode, against the bounds in instructions.json.

    tests/benchmark/instructions.py [--update] [PROGRAM]     --update: sets the bounds anew, 5 % above what it counts

Valgrind's callgrind counts the function CountedRequest of corridor_instructions.cc, built by the release preset.
Nothing is timed, so a busy machine changes nothing. From run to run, whatever the environment and the directory,
native counts are equal to the last instruction. Inference counts spread by 0.01 %, for protobuf's maps take their
seed, and the model's statistics what they sort, from clocks.

At 64 B the count is that of decode, validate and encode. At 1 MiB the kernel is half of it, and most of the rest goes
to the message's 65 slices. Valgrind has no AVX-512, so the kernel is the AVX2 one on every machine that has AVX2. The
bounds are for Debian 12's compiler and libraries.

Fails when a case is above its bound, or more than 15 % below: then the bound no longer guards anything.
"""
import argparse
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOUNDS = pathlib.Path(__file__).with_suffix(".json")
# Face, bytes and how many requests are counted.
CASES = (("native", 64, 1000), ("native", 1 << 20, 20), ("inference", 64, 1000), ("inference", 1 << 20, 20))
KERNEL_LEVEL = "x86-64-v3"
ROOM = 1.05
LOWEST_RATIO = 0.85


def count(program, face, size, requests):
    """Instructions per request, and the level of the kernel that they ran."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory, "callgrind.out")
        run = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=*CountedRequest*",
             program, face, str(size), str(requests)], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"instructions: {face} {size} ended with status {run.returncode}: {run.stderr.strip()}")
        total = int(re.search(r"^totals: (\d+)", out.read_text(), re.M)[1])
    if total == 0:
        sys.exit("instructions: valgrind met no function CountedRequest")
    return total / requests, run.stdout.strip()


def fault(case, counted, bound, level):
    """What is wrong with a case, or nothing."""
    if level != KERNEL_LEVEL:
        return f"{case}: the kernel ran at level {level}; the bounds are for {KERNEL_LEVEL}"
    if bound is None:
        return f"{case}: no bound in {BOUNDS.name}; set it by --update"
    if counted > bound:
        return f"{case}: {counted:.0f} instructions a request, above the bound of {bound}"
    if counted < LOWEST_RATIO * bound:
        return f"{case}: {counted:.0f} instructions a request, far below the bound of {bound}: lower the bound"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/tests/benchmark/corridor_instructions")
    parser.add_argument("--update", action="store_true", help="set the bounds anew")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("instructions: no valgrind; install Debian's package valgrind (deploy/setup.sh test does)")
    if not pathlib.Path(arguments.program).is_file():
        sys.exit(f"instructions: no {arguments.program}; build the target corridor_instructions")

    bounds = json.loads(BOUNDS.read_text()) if BOUNDS.exists() else {}
    new_bounds, faults = {}, []
    print(f"{'case':<18} {'instructions':>12} {'bound':>8} {'ratio':>6}")
    for face, size, requests in CASES:
        case = f"{face} {size}"
        counted, level = count(arguments.program, face, size, requests)
        bound = new_bounds[case] = math.ceil(counted * ROOM) if arguments.update else bounds.get(case)
        ratio = f"{counted / bound:.3f}" if bound else "-"
        print(f"{case:<18} {counted:>12.0f} {bound or '-':>8} {ratio:>6}", flush=True)
        faults.append(fault(case, counted, bound, level))
    faults = [found for found in faults if found]
    for found in faults:
        print(f"FAILED  {found}")
    if arguments.update and not faults:
        BOUNDS.write_text(json.dumps(new_bounds, indent=2) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
