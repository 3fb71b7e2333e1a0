"""deploy/scaling.md's tables follow from the inputs in it."""
import math
import pathlib
import re
import unittest

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "deploy/scaling.md").read_text()


def inputs(page):
    return {name: float(value) for name, value in re.findall(r"^\| ([A-G]) \|.*\| ([0-9.]+) \|$", page, re.M)}


def rows(page, heading):
    """(processors, Gbit/s, the other cells) of the table under a heading."""
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [(int(processors), int(gigabits), [cell.strip() for cell in rest.split("|")])
            for processors, gigabits, rest in re.findall(
                r"^\| (\d+) processors, (\d+) Gbit/s \|(.*)\|$", section, re.M)]


def node(given, processors, gigabits):
    threads = max(1, processors // int(given["D"]))
    network = given["F"] * gigabits / 8
    by_threads = threads * given["E"] / given["B"]
    return {"threads": threads, "requests": threads * given["E"] / (given["A"] * 1e-6),
            "rate": min(by_threads, network), "limit": "network" if network < by_threads else "threads",
            "tls": min(threads * given["E"] / given["C"], network)}


def wrong_cells(page):
    given = inputs(page)
    for processors, gigabits, cells in rows(page, "One node"):
        n = node(given, processors, gigabits)
        right = [str(n["threads"]), f"{n['requests'] / 1000:.0f}", f"{n['rate']:.1f}", n["limit"],
                 f"{n['tls']:.1f}", f"{n['rate'] * given['G']:.0f}"]
        if cells != right:
            yield f"One node, {processors} processors: {cells}, not {right}"
    for processors, gigabits, cells in rows(page, "How many nodes"):
        n = node(given, processors, gigabits)
        # A hair less, lest 10.000000000000002 nodes become 11.
        right = [str(math.ceil(x - 1e-9)) for x in (1e6 / n["requests"], 100 / n["rate"], 100 / n["tls"])]
        if cells != right:
            yield f"How many nodes, {processors} processors: {cells}, not {right}"
    busy = re.search(r"busy processors that is ([0-9]+) for the requests and ([0-9]+) for the bytes", page).groups()
    right = (f"{1e6 * given['A'] * 1e-6:.0f}", f"{100 * given['B']:.0f}")
    if busy != right:
        yield f"busy processors: {busy}, not {right}"


class Scaling(unittest.TestCase):
    maxDiff = None

    def test_every_cell_follows(self):
        self.assertEqual(sorted(inputs(PAGE)), list("ABCDEFG"))
        self.assertEqual([len(rows(PAGE, heading)) for heading in ("One node", "How many nodes")], [4, 4])
        self.assertEqual(list(wrong_cells(PAGE)), [])

    def test_another_input_or_cell_is_noticed(self):
        for right, wrong in (("us | 16 |", "us | 28 |"), ("TCP, s | 0.66 |", "TCP, s | 1.2 |"), ("| 27 |", "| 23 |"),
                             ("| network | 4.9 |", "| network | 8.0 |"), ("that is 16 for", "that is 15 for")):
            self.assertIn(right, PAGE)
            self.assertNotEqual(list(wrong_cells(PAGE.replace(right, wrong, 1))), [], wrong)


if __name__ == "__main__":
    unittest.main()
