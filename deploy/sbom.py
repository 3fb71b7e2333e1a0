#!/usr/bin/env python3
"""Writes the bill of materials of trelu's programs, as SPDX 2.3 in JSON, to standard output.

    deploy/sbom.py --version 0.1.0 --binary /usr/bin/trelu-server --binary /usr/bin/trelu > trelu.spdx.json

It lists the programs with their checksums, the Debian packages whose libraries they load, which must be installed, and
those that are compiled in. The programs may be of another architecture than this machine; they are not run. With
SOURCE_DATE_EPOCH, the time of the document, the same programs and packages give the same bytes.
"""
import argparse
import hashlib
import json
import os
import pathlib
import platform
import re
import sys
import time
import urllib.parse

import shipped

LICENCE = "Apache-2.0"  # ours
ROOT_ID = "SPDXRef-Package-trelu"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True, help="of trelu")
    parser.add_argument("--binary", required=True, action="append", metavar="PATH", help="a program; may be repeated")
    parser.add_argument("--as", dest="folder", default="/usr/bin", metavar="FOLDER",
                        help="where the programs are once installed (default: %(default)s)")
    parser.add_argument("--package", default=[], action="append", metavar="NAME",
                        help="another Debian package of which something is shipped; may be repeated")
    return parser.parse_args()


def spdx_id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", lambda found: f"-{ord(found[0]):x}-", name)


def package_id(package):
    return spdx_id("Package", package.qualified)


def file_element(path, folder):
    data = pathlib.Path(path).read_bytes()
    name = f"{folder.rstrip('/')}/{os.path.basename(path)}"
    return {
        "SPDXID": spdx_id("File", os.path.basename(path)),
        "fileName": f".{name}",
        "fileTypes": ["BINARY"],
        "checksums": [{"algorithm": algorithm.upper(), "checksumValue": hashlib.new(algorithm, data).hexdigest()}
                      for algorithm in ("sha1", "sha256")],
        "licenseConcluded": LICENCE,
        "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    }


def our_package(version, files):
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    return {
        "SPDXID": ROOT_ID,
        "name": "trelu",
        "versionInfo": version,
        "primaryPackagePurpose": "APPLICATION",
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {  # SPDX 2.3, 7.9: over the files' SHA-1, sorted
            "packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()},
        "licenseConcluded": LICENCE,
        "licenseDeclared": LICENCE,
        "licenseInfoFromFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    }


def purl(package):
    """As the purl specification says for type deb."""
    quoted = urllib.parse.quote(package.version, safe="")
    distribution = platform.freedesktop_os_release()
    return (f"pkg:deb/debian/{urllib.parse.quote(package.name, safe='')}@{quoted}?arch={package.architecture}"
            f"&distro=debian-{distribution['VERSION_ID']}")


def debian_package(package):
    return {
        "SPDXID": package_id(package),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"built by Debian from the source package {package.source} {package.source_version}",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": f"as in /usr/share/doc/{package.name}/copyright",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(package)}],
    }


def relationships(programs, graph, owner, contained, files):
    """Of packages, by what their files load; ours contains its files and what is compiled in."""
    yield "SPDXRef-DOCUMENT", "DESCRIBES", ROOT_ID
    for file in files:
        yield ROOT_ID, "CONTAINS", file["SPDXID"]
    for package in contained:
        yield ROOT_ID, "CONTAINS", package_id(package)
    for path, needed in graph.items():
        user = ROOT_ID if path in programs else package_id(owner[path])
        for library in needed:
            if user != package_id(owner[library]):
                yield user, "DEPENDS_ON", package_id(owner[library])


def document(version, binaries, folder, more):
    binaries = sorted(os.path.abspath(path) for path in binaries)
    graph = shipped.loaded(binaries)
    programs = [shipped.inside("", path) for path in binaries]
    libraries = {path: shipped.file_of("", path) for path in graph if path not in programs}
    by_file = shipped.owners(sorted(set(libraries.values())))
    owner = {path: by_file[file] for path, file in libraries.items()}
    architecture = shipped.read_elf(binaries[0]).architecture
    contained = sorted({shipped.package_named(name, architecture) for name in (*shipped.compiled_in(graph), *more)})
    files = [file_element(path, folder) for path in binaries]
    edges = sorted(set(relationships(programs, graph, owner, contained, files)))
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    result = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"trelu-{version}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "creators": [f"Tool: trelu-sbom-{version}"],
        },
        "packages": [our_package(version, files),
                     *(debian_package(package) for package in sorted({*owner.values(), *contained}))],
        "files": files,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in edges],
    }
    # Unique for each content, as a namespace must be, and the same for the same.
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    result["documentNamespace"] = f"https://spdx.org/spdxdocs/trelu-{version}-{digest[:32]}"
    return result


def main():
    given = arguments()
    try:
        result = document(given.version, given.binary, given.folder, given.package)
    except (shipped.Unfit, OSError) as error:
        sys.exit(f"sbom: {error}")
    json.dump(result, sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
