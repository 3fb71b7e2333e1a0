"""Measures trelu beside its ceilings, in rounds in which all take turns: see run.sh."""
import argparse
import json
import pathlib
import signal
import sys
import tempfile
import time

import contenders
import machine
import measure
import plan
import plots
import report
import results


def positive(kind):
    def parse_positive(text):
        value = kind(text)
        if not value > 0:
            raise ValueError
        return value
    parse_positive.__name__ = f'positive {kind.__name__}'
    return parse_positive


def parse():
    parser = argparse.ArgumentParser(prog='tests/benchmark/run.sh', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='the targets alone, in short rounds')
    parser.add_argument('--rounds', type=positive(int), help='5, or 3 when quick')
    parser.add_argument('--seconds', type=positive(float), help='of each measurement: 0.5, or 0.2 when quick')
    parser.add_argument('--only', metavar='GROUP', action='append', help='a group of the report; repeatable',
                        choices=list(dict.fromkeys(point.group for point, _ in plan.points())))
    parser.add_argument('--output', type=pathlib.Path, default=pathlib.Path('build/benchmark'),
                        help='directory of results.json, report.md and the plots (%(default)s)')
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (3 if arguments.quick else 5)
    arguments.seconds = arguments.seconds or (0.2 if arguments.quick else 0.5)
    return arguments


# What a target compares is measured so often in each round, for half as long: on a noisy machine many short turns tell
# more than few long ones.
TURNS = 3
# What no target needs is measured in the first rounds only.
ROUNDS_OF_OTHERS = 2


def of_targets(targets):
    return {side for target in targets for side in (target.of, target.to) if side}


def chosen(arguments, targets):
    """[(point, subjects)] of this run."""
    everything = plan.points()
    if arguments.only:
        return [(point, subjects) for point, subjects in everything if point.group in arguments.only]
    if not arguments.quick:
        return everything
    needed = of_targets(targets)
    return [(point, wanted) for point, subjects in everything
            if (wanted := tuple(s for s in subjects if (point, s) in needed))]


def turns(todo, targets, round_number):
    """(point, subject, turn, share of the time of a measurement) of one round, in order."""
    needed = of_targets(targets)
    for point, subjects in todo:
        for turn in range(TURNS):
            # Who is first changes from turn to turn.
            for subject in subjects if (round_number + turn) % 2 == 0 else reversed(subjects):
                if (point, subject) in needed and point != plan.START:
                    yield point, subject, turn, 0.5
                elif turn == 0 and ((point, subject) in needed or round_number < ROUNDS_OF_OTHERS):
                    yield point, subject, turn, 1


def main():
    arguments = parse()
    targets = plan.targets()
    todo = chosen(arguments, targets)
    arguments.output.mkdir(parents=True, exist_ok=True)
    where = machine.describe()
    found = results.Results()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        with contenders.contenders(arguments.build.resolve(), directory) as running:
            bench = measure.Bench(arguments.build.resolve(), directory, running, sys.executable)
            for point, subjects in todo:
                for subject in subjects:
                    if point not in (plan.START, plan.MIXED):
                        measure.progress(f'verifying: {point.label()}: {subject}')
                        bench.measure(point, subject, min(arguments.seconds, 0.1), verify=True)
            for number in range(arguments.rounds):
                for point, subject, turn, share in turns(todo, targets, number):
                    measure.progress(f'round {number + 1} of {arguments.rounds}, after '
                                     f'{time.monotonic() - begun:.0f} s: {point.label()}: {subject}')
                    found.add(point, subject, (number, turn),
                              bench.measure(point, subject, share * arguments.seconds))
    measure.progress('')
    text = (f'{where["date"]}, {where["processors"]} x {where["processor"]}, kernel {where["kernel"]}, '
            f'{", ".join(where["packages"])}, commit {where["commit"]}; {arguments.rounds} rounds, '
            f'{arguments.seconds:g} s each, what a target compares {TURNS} times for half as long, the rest in '
            f'{min(arguments.rounds, ROUNDS_OF_OTHERS)} rounds; medians; {time.monotonic() - begun:.0f} s in all\n\n'
            + report.targets_table(found, targets) + '\n' + report.table(found, [point for point, _ in todo]) + '\n')
    print(text)
    (arguments.output / 'report.md').write_text(text)
    (arguments.output / 'results.json').write_text(json.dumps(report.as_json(found, targets, where), indent=1))
    plots.draw_all(found, [point for point, _ in todo], arguments.output)
    print(f'also in {arguments.output}: report.md, results.json and plots (SVG)')


if __name__ == '__main__':
    # So that whoever ends this ends the contenders too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f'benchmark: {error}')
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
