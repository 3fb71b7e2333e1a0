"""Kubernetes objects against their types: each becomes a literal of its kind in TypeScript, so the compiler finds wrong
types and misspelt fields, which a cluster would drop without a word.

  strict_types.py DIRECTORY FILE...     DIRECTORY holds node_modules; what was generated stays in it
"""
import json
import pathlib
import re
import subprocess
import sys

import yaml

PACKAGES = {"monitoring.coreos.com": "@kubernetes-models/prometheus-operator"}
OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--exactOptionalPropertyTypes", "--module", "nodenext",
           "--moduleResolution", "nodenext", "--target", "es2022", "--pretty", "false"]


def module_of(api_version, kind):
    group, _, version = api_version.rpartition("/")
    if group == "serving.kserve.io":
        return "./kserve.js"
    return "/".join(part for part in (PACKAGES.get(group, "kubernetes-models"), group, version, kind) if part)


def literals(files):
    """(where it comes from, TypeScript source) of each object."""
    for file in files:
        for document in yaml.safe_load_all(pathlib.Path(file).read_text()):
            if document is not None:
                kind = document["kind"]
                yield (f"{file}: {kind} {document['metadata']['name']}",
                       f"import type {{ I{kind} }} from '{module_of(document['apiVersion'], kind)}';\n"
                       f"export const object: I{kind} = {json.dumps(document, indent=1)};\n")


def damaged(objects):
    """One object of each source of types, with a fault: against a compiler that would accept everything."""
    for right, wrong in (('"readOnlyRootFilesystem"', '"readOnlyRootFilesytem"'), ('"replicas": 2', '"replicas": "two"'),
                         ('"interval"', '"intervall"'), ('"protocolVersion"', '"protocolVersoin"'),
                         ('"supportedModelFormats"', '"supportedModelFormat"')):
        source = next((source for _, source in objects if right in source), None)
        if source is None:
            sys.exit(f"no object has {right}, so nothing can be damaged there")
        yield f"{wrong} instead of {right}", source.replace(right, wrong, 1)


def compile_all(directory, sources):
    """What the compiler says of each source, by its index."""
    (directory / "kserve.ts").write_text(pathlib.Path(__file__).with_name("kserve.ts").read_text())
    for index, source in enumerate(sources):
        (directory / f"object{index}.ts").write_text(source)
    run = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc", *OPTIONS, *(f"object{i}.ts" for i in range(len(sources)))],
        cwd=directory, capture_output=True, text=True, check=False)
    said = {}
    for line in (run.stdout + run.stderr).splitlines():
        if found := re.match(r"object(\d+)\.ts", line):
            said.setdefault(int(found[1]), []).append(line)
        elif not line.startswith(" "):
            sys.exit(f"the compiler itself: {line}")
    return said


def main():
    directory = pathlib.Path(sys.argv[1])
    objects = list(literals(sys.argv[2:]))
    wrong = list(damaged(objects))
    said = compile_all(directory, [source for _, source in objects + wrong])
    bad = [f"{origin}\n  " + "\n  ".join(said[index]) for index, (origin, _) in enumerate(objects) if index in said]
    missed = [what for index, (what, _) in enumerate(wrong, len(objects)) if index not in said]
    if bad or missed:
        sys.exit("\n".join(bad + [f"not noticed: {what}" for what in missed]))
    print(f"{len(objects)} objects have their kinds' types; {len(wrong)} damaged ones were noticed")


if __name__ == "__main__":
    main()
