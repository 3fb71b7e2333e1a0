"""A program's manual page, out of its own --help, on standard output.

  man_page.py PROGRAM SUMMARY [COMMAND...]    COMMAND: what the program can do, each with a --help of its own
"""
import datetime
import os
import pathlib
import subprocess
import sys


def told_by(*words):
    # A variable of the builder's, such as TRELU_TARGET, would be shown as a default.
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TRELU_")}
    return subprocess.run(words, check=True, capture_output=True, text=True, env=clean).stdout.strip("\n")


def as_written(text):
    """Text that the page shows line by line: a help text has its own columns."""
    lines = text.replace("\\", "\\\\").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").splitlines()
    return "\n".join([".nf", *("\\&" + line if line.startswith(".") else line for line in lines), ".fi"])


def main():
    program, summary, *commands = sys.argv[1:]
    name = pathlib.Path(program).name
    version = told_by(program, "--version")
    day = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    dash = name.replace("-", "\\-")
    print(f'.TH {name.upper()} 1 "{day:%Y\\-%m\\-%d}" "{version}" "User Commands"')
    print(f".SH NAME\n{dash} \\- {summary}")
    print(f".SH SYNOPSIS\n.B {dash}\n" + ("[option]... command" if commands else "[\\-\\-flag value]..."))
    print(f".SH DESCRIPTION\n{as_written(told_by(program, '--help'))}")
    for command in commands:
        print(f".SH {name.upper()} {command.upper()}\n{as_written(told_by(program, command, '--help'))}")


main()
