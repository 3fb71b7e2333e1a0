"""The Debian changelog, newest first, on standard output.

  changelog.py VERSION    VERSION: the package's

Every annotated tag vX.Y.Z of the commit and those before it is an entry, with the tag's message. A version that has no such
tag, or a tree that has no history, gives an entry that says no more than the version, as of SOURCE_DATE_EPOCH.
"""
import email.utils
import os
import pathlib
import re
import subprocess
import sys
import textwrap

MAINTAINER = "The trelu maintainers <maintainers@trelu.example>"


def tags():
    """(version, seconds since 1970, message) of every release, newest first."""
    form = "%(objecttype)%00%(refname:strip=2)%00%(taggerdate:unix)%00%(contents)%00%(contents:signature)%01"
    listed = subprocess.run(
        ["git", "for-each-ref", "--merged=HEAD", "--sort=-version:refname", f"--format={form}", "refs/tags/v*"],
        cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    for item in listed.stdout.split("\x01\n") if listed.returncode == 0 else []:
        kind, _, rest = item.partition("\x00")
        if kind == "tag":
            name, seconds, message, signature = rest.split("\x00")
            if re.fullmatch(r"v\d+\.\d+\.\d+", name):
                yield name[1:], int(seconds), message.removesuffix(signature)


def bullets(message):
    """Debian's form: every paragraph, or item of a list, of the message is a bullet."""
    for part in re.split(r"\n\s*\n|\n(?=\s*[-*] )", message.strip()):
        words = " ".join(re.sub(r"^\s*[-*] ", "", part).split())
        yield textwrap.fill(words, 78, initial_indent="  * ", subsequent_indent="    ", break_long_words=False,
                            break_on_hyphens=False)


def entry(version, seconds, message):
    when = email.utils.formatdate(seconds).replace("-0000", "+0000")
    body = "\n".join(bullets(message if message.strip() else f"Version {version}."))
    return f"trelu ({version}) unstable; urgency=medium\n\n{body}\n\n -- {MAINTAINER}  {when}\n"


def main():
    version = sys.argv[1]
    releases = list(tags())
    if version not in (release[0] for release in releases):
        releases.insert(0, (version, int(os.environ["SOURCE_DATE_EPOCH"]), ""))
    print("\n".join(entry(*release) for release in releases), end="")


main()
