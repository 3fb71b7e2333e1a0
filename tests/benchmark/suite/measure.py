"""One measurement: starts the program that puts load on a contender and reads what it prints."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import plan


class Bench:
    """What all measurements share."""

    def __init__(self, build, directory, contenders, python):
        self.build = build
        self.here = build / 'tests/benchmark'
        self.directory = directory
        self.contenders = contenders
        self.python = python

    def measure(self, point, subject, seconds, verify=False):
        """A dict of figures, measured for so long after a warm-up; with `verify` every answer is compared instead, and a
        wrong one raises."""
        if point == plan.START:
            return start(self.build, self.directory)
        flags = ['--verify'] if verify else []
        if subject == 'memory':
            return self.run(['in_process', '--work', point.way, '--bytes', point.bytes, *flags], seconds)
        contender = self.contenders[subject, point.transport == 'tls']
        try:
            return self.measure_contender(contender, point, subject, seconds, flags)
        except RuntimeError as error:
            if (status := contender.process.poll()) is not None:
                raise RuntimeError(f'{subject} ended with {status}: {contender.last_words()}') from error
            raise

    def measure_contender(self, contender, point, subject, seconds, flags):
        if point == plan.MIXED:
            return self.mixed(contender, subject, seconds)
        if point.group == plan.PYTHON.group:
            return run([self.python, pathlib.Path(__file__).parent / 'python_client.py',
                        contender.target('tcp'), point.bytes, seconds, contender.pid])
        command = ['library', '--way', point.way] if point.way else self.load(point, subject)
        command += ['--target', contender.target(point.transport), '--server-pid', contender.pid,
                    '--bytes', point.bytes]
        if not point.is_ping_pong():
            return self.run([*command, *flags], seconds)
        with apart(contender.pid):
            return self.run([*command, *flags], seconds)

    def load(self, point, subject):
        command = ['load', '--call', point.call, '--face', point.face, '--pieces', point.pieces,
                   '--in-flight', point.in_flight, '--connections', point.connections]
        if subject == 'socket':
            command[2] = 'socket'
        if subject == 'echo':
            command += ['--answers', 'echo']
        if point.transport == 'tls':
            command += ['--tls-ca', self.directory / 'certificate.pem']
        return command

    def run(self, command, seconds):
        return run([self.here / command[0], *command[1:], '--seconds', seconds])

    def mixed(self, contender, subject, seconds):
        """One caller of 64 B while a stream of 1 MiB chunks goes on, by a process and a connection each, over the same
        time. The caller rests after each answer: else the moments at which answers come fast would count most."""
        target = ['--target', contender.target('tcp'), '--server-pid', contender.pid]
        bulk = start_run([self.here / 'load', *self.load(plan.STREAM, subject)[1:], *target, '--bytes',
                          plan.STREAM.bytes, '--seconds', 2 * seconds])
        try:
            small = self.run([*self.load(plan.SMALL_ALONE, subject), *target, '--bytes', 64, '--rest-us', 1000],
                             2 * seconds)
        finally:
            figures = finish_run(bulk)
        return small | {'bulk_gb_per_second': figures['gb_per_second']}


@contextlib.contextmanager
def apart(server):
    """The server on one processor and what is started meanwhile on another, if there are two. Where the two sides take
    turns, the scheduler may let them share one, which is four times faster: by chance, and not from another machine."""
    ours = os.sched_getaffinity(0)
    first, *others = sorted(ours)
    try:
        if others:
            confine(server, {first})
            os.sched_setaffinity(0, {others[0]})
        yield
    finally:
        os.sched_setaffinity(0, ours)
        confine(server, ours)


def confine(server, processors):
    """All threads of a process, those that are made meanwhile too; nothing if it has ended."""
    done = set()
    while new := set(threads_of(server)) - done:
        for thread in new:
            with contextlib.suppress(ProcessLookupError):  # a thread that has ended
                os.sched_setaffinity(thread, processors)
        done |= new


def threads_of(server):
    try:
        return [int(name) for name in os.listdir(f'/proc/{server}/task')]
    except FileNotFoundError:
        return []


def start_run(command):
    command = [str(part) for part in command]
    return command, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish_run(run_of):
    command, process = run_of
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise RuntimeError(f'{" ".join(command)}: no end after two minutes') from None
    if process.returncode != 0:
        raise RuntimeError(f'{" ".join(command)}: exit status {process.returncode}\n{err}')
    return json.loads(out)


def run(command):
    return finish_run(start_run(command))


def start(build, directory):
    """From exec to the ready line, with a free port, and what the idle process then holds."""
    command = [build / 'server/trelu-server', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0',
               '--drain-delay', '0s']
    begun = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    line = process.stdout.readline()
    ready = time.perf_counter() - begun
    try:
        if ' ready ' not in line:
            raise RuntimeError(f'trelu-server did not start: {line}')
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        resident = int(re.search(r'VmRSS:\s+(\d+) kB', status)[1])
    finally:
        process.terminate()
        process.wait(30)
    return {'ready_ms': ready * 1e3, 'resident_mib': resident / 1024}


def progress(text):
    if sys.stderr.isatty():
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        print(f'\r{text[:width - 1]:<{width - 1}}', end='', file=sys.stderr, flush=True)
        return
    phase = text.partition(':')[0].partition(',')[0]
    if phase and phase != progress.phase:
        progress.phase = phase
        print(phase, file=sys.stderr, flush=True)


progress.phase = ''
