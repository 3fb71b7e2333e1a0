"""Replicas behind a headless Service, as far as that goes on one machine: a name that resolves to several addresses,
one server on each, and the bundled client, which spreads calls over them.

Runs in namespaces of its own (unshare --net --pid --fork --kill-child), so that the addresses are nobody else's and
nothing outlives it. In a cluster the target is dns:///NAME:PORT, and the resolver knows the name server; here the target
names it, which leaves /etc/resolv.conf alone.

  scale_out.py SERVER COMMAND WORK_DIRECTORY [spread|kill|grow]...
"""
import fcntl
import json
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

NAME_SERVER = "127.0.0.53"
NAME = f"dns://{NAME_SERVER}:53/trelu-headless.default.svc"
AGE = 3  # seconds; --max-connection-age where connections are to age, elsewhere the chart's:
CHART_AGE = 300
RESOLVE_AGAIN = 5  # the client asks for a name at most so often
PORT, AGEING_PORT, AGELESS_PORT = 8001, 9001, 10001


def fail(message):
    sys.exit(f"scale_out: {message}")


def be_alone():
    """A new network namespace's loopback is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        up = struct.pack("16sH14x", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(sock, 0x8914, up)  # SIOCSIFFLAGS


class NameServer(threading.Thread):
    """Answers every question for an address (type A) with all of `addresses`, which may change at any time."""

    def __init__(self):
        super().__init__(daemon=True)
        self.addresses = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAME_SERVER, 53))
        self.start()

    def run(self):
        while True:
            query, sender = self.socket.recvfrom(512)
            end = 12
            while query[end]:
                end += 1 + query[end]
            question = query[12:end + 5]
            (kind,) = struct.unpack_from(">H", question, len(question) - 4)
            # Like cluster DNS: authoritative, A records only.
            answers = [struct.pack(">HHHIH4s", 0xC00C, 1, 1, 5, 4, socket.inet_aton(address))
                       for address in (self.addresses if kind == 1 else [])]
            header = query[:2] + struct.pack(">HHHHH", 0x8400, 1, len(answers), 0, 0)
            self.socket.sendto(header + question + b"".join(answers), sender)


class Replica:
    def __init__(self, address, port=PORT, age=CHART_AGE):
        self.address, self.admin = address, port + 1
        self.process = subprocess.Popen(
            [SERVER, f"--listen={address}:{port}", f"--admin-listen={address}:{port + 1}", "--drain-delay=0s",
             f"--max-connection-age={age}s"],
            stdout=subprocess.PIPE, stderr=open(WORK / f"{address}-{port}.log", "w"), text=True)
        if "ready" not in self.process.stdout.readline():
            fail(f"the server on {address}:{port} did not become ready; see {WORK}/{address}-{port}.log")

    def served(self):
        """Apply calls that ended well, by its own count."""
        with urllib.request.urlopen(f"http://{self.address}:{self.admin}/metrics", timeout=5) as page:
            text = page.read().decode()
        found = re.search(r'^grpc_server_handled_total\{[^}]*"Apply",grpc_code="OK"\} (\d+)$', text, re.M)
        return int(found[1]) if found else 0

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(timeout=30)


class Load:
    """`trelu bench` against the name, at a rate that leaves the machine room for others."""

    def __init__(self, seconds, rate, *more, port=PORT, target=NAME):
        self.report = WORK / f"bench-{port}.json"
        self.process = subprocess.Popen(
            [COMMAND, f"--target={target}:{port}", "bench", "--size=64", "--warmup=0s", f"--duration={seconds}s",
             f"--rate={rate}", "--arrivals=uniform", f"--json={self.report}", *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def result(self):
        """(answered, failed), of which `failures` tells more."""
        error = self.process.communicate(timeout=120)[1]
        if not self.report.exists():
            fail(f"trelu bench ended with status {self.process.returncode}: {error}")
        run = json.loads(self.report.read_text())["results"][0]
        self.report.unlink()
        self.failures = run["failures"] | ({"abandoned": run["abandoned"]} if run["abandoned"] else {})
        return run["latency_us"]["count"], run["failed"] + run["abandoned"]


def wait_for(what, seconds, condition):
    """Seconds until it was so."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > seconds:
            fail(f"{what}: not within {seconds} s")
        time.sleep(0.05)
    return time.monotonic() - begin


def uneven(counts):
    """The largest distance of a count from their mean, as a part of it."""
    mean = sum(counts) / len(counts)
    return max(abs(count - mean) for count in counts) / mean


def spread():
    """Load reaches every replica evenly; a client that takes one address is seen to do otherwise."""
    for target, even in ((NAME, True), ("127.0.0.2", False)):
        before = [replica.served() for replica in REPLICAS]
        load = Load(4, 1000, "--retries=3", target=target)
        answered, failed = load.result()
        counts = [replica.served() - old for replica, old in zip(REPLICAS, before)]
        print(f"spread: {target}: {answered} calls, {failed} failed; by replica {counts}, "
              f"{uneven(counts):.1%} from even at most", flush=True)
        # The client checks one answer before its clock runs.
        if failed or not answered <= sum(counts) <= answered + 1:
            fail(f"{sum(counts)} calls were served, {answered} answered, {failed} failed: {load.failures}")
        if (uneven(counts) <= 0.10) != even:
            fail(f"by {target} the load should be {'within' if even else 'beyond'} 10 % of even")


def kill():
    """A killed replica loses no call, because the client tries again; without that, some are lost."""
    for retries in (3, 0):
        victim = REPLICAS[-1]
        before = victim.served()
        load = Load(6, 1000, f"--retries={retries}")
        wait_for("calls reach the replica that is to be killed", 10, lambda: victim.served() > before + 50)
        # Stopped for a moment first, so that calls are in flight when it dies: about half of what the others then take.
        victim.process.send_signal(signal.SIGSTOP)
        others = sum(replica.served() for replica in REPLICAS[:-1])
        wait_for("the others serve on", 10, lambda: sum(r.served() for r in REPLICAS[:-1]) > others + 100)
        victim.end(signal.SIGKILL)
        answered, failed = load.result()
        print(f"kill: 1 of 3 killed under load, {retries} retries: {answered} calls answered, {failed} lost", flush=True)
        REPLICAS[-1] = Replica(victim.address)
        if retries and failed:
            fail(f"calls were lost in spite of retries: {load.failures}")
        if not retries and not failed:
            fail("no call was lost without retries, so nothing was in flight: the check proves nothing")


def grow():
    """A new replica gets traffic from clients that are connected already, because connections age."""
    bound = max(AGE * 1.1, RESOLVE_AGAIN) + 5  # and for a busy machine
    ageing = [Replica(address, AGEING_PORT, AGE) for address in NAMES.addresses]
    ageless = [Replica(address, AGELESS_PORT, 0) for address in NAMES.addresses]
    # A call that meets the end of its connection may get UNAVAILABLE; the client library tries again, as in all it does.
    loads = [Load(bound + 4, 100, "--retries=3", port=port) for port in (AGEING_PORT, AGELESS_PORT)]
    wait_for("calls reach the old replicas", 10, lambda: all(r.served() > 1 for r in ageing + ageless))
    address = "127.0.0.5"
    new, ageless_new = Replica(address, AGEING_PORT, AGE), Replica(address, AGELESS_PORT, 0)
    NAMES.addresses = NAMES.addresses + [address]
    took = wait_for("calls reach the new replica", bound, lambda: new.served() > 10)
    counts = [load.result() for load in loads]
    print(f"grow: connection age {AGE} s: the new replica served after {took:.1f} s (bound {bound:.0f} s: the age, but "
          f"clients ask for a name every {RESOLVE_AGAIN} s at most), {new.served()} calls by the end; without an age "
          f"{ageless_new.served()}; {sum(failed for _, failed in counts)} failed", flush=True)
    if sum(failed for _, failed in counts):
        fail(f"calls failed: {[load.failures for load in loads]}")
    if ageless_new.served():
        fail("a new replica got calls without connections ageing: the check proves nothing")
    for replica in (*ageing, *ageless, ageless_new, new):
        replica.end()


SERVER, COMMAND, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
be_alone()
NAMES = NameServer()
NAMES.addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
REPLICAS = [Replica(address) for address in NAMES.addresses]
for scenario in sys.argv[4:] or ["spread", "kill", "grow"]:
    {"spread": spread, "kill": kill, "grow": grow}[scenario]()
for replica in REPLICAS:
    replica.end()
