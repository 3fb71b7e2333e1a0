"""What is measured: points that differ from a base in one thing, each by several subjects, and the
figures that are promised about them."""
import dataclasses

KIB, MIB = 1 << 10, 1 << 20


@dataclasses.dataclass(frozen=True)
class Point:
    """One kind of traffic. Sizes are the payload's, in bytes."""
    group: str
    call: str = 'unary'        # or stream
    bytes: int = 64
    in_flight: int = 16
    connections: int = 1
    transport: str = 'tcp'     # or unix, tls
    face: str = 'native'       # or inference
    pieces: str = 'tensors'    # of a stream: or chunks, of one endless tensor
    way: str = ''              # of the client library, or of memory: see library.cc, in_process.cc

    def is_ping_pong(self):
        """One small message at a time: each side sleeps while the other works."""
        return self.in_flight == 1 and self.bytes <= KIB and self.group != PYTHON.group

    def label(self):
        parts = [size(self.bytes), self.call if self.call == 'unary' else f'stream of {self.pieces}']
        if self.way:
            return f'{size(self.bytes)}, {self.way}'
        parts.append(f'{self.in_flight} in flight')
        if self.is_ping_pong():
            parts.append('a processor each')
        if self.connections > 1:
            parts.append(f'{self.connections} connections')
        if self.transport != 'tcp':
            parts.append(self.transport)
        if self.face != 'native':
            parts.append('ModelInfer' if self.call == 'unary' else 'ModelStreamInfer')
        return ', '.join(parts)


def size(count):
    for unit, name in ((MIB, 'MiB'), (KIB, 'KiB')):
        if count >= unit and count % unit == 0:
            return f'{count // unit} {name}'
    return f'{count} B'


# Subjects: who answers. The first is the product, the last one its ceiling.
ALL = ('trelu', 'callback', 'echo')
WITH_SOCKET = ('trelu', 'callback', 'echo', 'socket')
AGAINST_ECHO = ('trelu', 'echo')


def depth(count):
    """In flight at a size: enough to keep both sides busy, not more than memory likes."""
    return 16 if count <= 64 * KIB else 4 if count <= 16 * MIB else 2


SIZES = (64, KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)
CHUNKS = (64 * KIB, 256 * KIB, MIB, 4 * MIB)

SMALL_ALONE = Point('in flight', in_flight=1)
SMALL_BASE = Point('unary by size')
SMALL_MANY = Point('in flight', in_flight=64)
LARGE = Point('unary by size', bytes=MIB, in_flight=4)
LARGER = Point('unary by size', bytes=16 * MIB, in_flight=4)
STREAM = Point('stream by chunk', call='stream', bytes=MIB, in_flight=4, pieces='chunks')
TENSORS = Point('small tensors on a stream', call='stream', in_flight=64)
TLS = Point('tls', bytes=MIB, in_flight=4, transport='tls')
INFER = Point('faces', bytes=MIB, in_flight=4, face='inference')
WHOLE = Point('large tensors by the library', bytes=256 * MIB, in_flight=1)
BY_LIBRARY = Point('large tensors by the library', bytes=256 * MIB, way='connection')
ONE_CALL = Point('large tensors by the library', bytes=256 * MIB, way='one-call')
LOCAL = {way: Point('one host, 64 MiB', bytes=64 * MIB, way=way)
         for way in ('connection', 'own', 'shared', 'in-place')}
KERNEL = {way: Point('one host, 64 MiB', bytes=64 * MIB, way=way)
          for way in ('kernel', 'kernel-in-place')}
PYTHON = Point('from Python', in_flight=1)
PYTHON_LARGE = Point('from Python', bytes=MIB, in_flight=1)
MIXED = Point('large and small together')
START = Point('start')


def points():
    """(point, subjects) in the order of the report."""
    plan = [(Point('unary by size', bytes=b, in_flight=depth(b)),
             WITH_SOCKET if b <= 64 * MIB else AGAINST_ECHO) for b in SIZES]
    plan += [(Point('in flight', in_flight=n), WITH_SOCKET + (('trelu busy', ) if n == 1 else ()))
             for n in (1, 64)]
    plan += [(Point('connections', bytes=b, in_flight=n, connections=c), AGAINST_ECHO)
             for b, n in ((64, 16), (MIB, 4)) for c in (2, 4)]
    plan += [(Point('stream by chunk', call='stream', bytes=b, in_flight=4, pieces='chunks'),
              WITH_SOCKET + (('trelu busy', ) if b == MIB else ())) for b in CHUNKS]
    plan += [(TENSORS, ALL), (Point('small tensors on a stream', call='stream', in_flight=1), ALL)]
    plan += [(Point('unix socket', bytes=b, in_flight=n, transport='unix'), AGAINST_ECHO + ('socket', ))
             for b, n in ((64, 1), (64, 16), (MIB, 4))]
    plan += [(Point('tls', bytes=64, transport='tls'), AGAINST_ECHO), (TLS, AGAINST_ECHO)]
    plan += [(Point('faces', bytes=b, in_flight=n, face=f), ('trelu', ))
             for b, n in ((64, 16), (MIB, 4)) for f in ('native', 'inference')]
    plan += [(Point('faces', call='stream', in_flight=64, face='inference'), ('trelu', ))]
    plan += [(WHOLE, ('trelu', )), (BY_LIBRARY, ('trelu', )), (ONE_CALL, ('trelu', ))]
    plan += [(point, ('trelu', )) for point in LOCAL.values()]
    plan += [(point, ('memory', )) for point in KERNEL.values()]
    plan += [(Point('memcpy', bytes=b, way='memcpy'), ('memory', )) for b in (MIB, 16 * MIB, 256 * MIB)]
    plan += [(PYTHON, ('trelu', )), (PYTHON_LARGE, ('trelu', ))]
    plan += [(MIXED, AGAINST_ECHO), (START, ('trelu', ))]
    return plan


@dataclasses.dataclass(frozen=True)
class Target:
    """A promised ratio of one measurement to another: at most `bound` or, from `above`, at least."""
    what: str
    metric: str
    of: tuple            # (point, subject)
    to: tuple | None     # None: the figure itself
    bound: float
    above: bool = False
    to_metric: str | None = None   # where it is not the same

    def met(self, value):
        return value >= self.bound if self.above else value <= self.bound


RATE, GB = 'requests_per_second', 'gb_per_second'
CPU = 'server_cpu_us_per_request'


def targets():
    def echo(point):
        return (point, 'trelu'), (point, 'echo')

    def callback(point):
        return (point, 'trelu'), (point, 'callback')

    return [
        Target('64 B unary: server CPU a request, against the echo', CPU, *echo(SMALL_BASE), 1.10),
        Target('64 B, 1 in flight: p50, against the echo', 'p50_us', *echo(SMALL_ALONE), 1.05),
        Target('64 B, 1 in flight, with busy polling: p50, against the echo', 'p50_us', (SMALL_ALONE, 'trelu busy'),
               (SMALL_ALONE, 'echo'), 0.45),
        Target('stream of 1 MiB chunks with busy polling: GB/s, against without', GB, (STREAM, 'trelu busy'),
               (STREAM, 'trelu'), 0.95, True),
        Target('64 B, 64 in flight: requests/s, against the callback server', RATE,
               *callback(SMALL_MANY), 1.05, True),
        Target('64 B, 64 in flight: server CPU a request, against the callback server', CPU,
               *callback(SMALL_MANY), 0.88),
        Target('1 MiB unary: GB/s, against the echo', GB, *echo(LARGE), 0.95, True),
        Target('1 MiB unary: server CPU a request, against the echo', CPU, *echo(LARGE), 1.10),
        Target('16 MiB unary: GB/s, against the echo', GB, *echo(LARGER), 0.88, True),
        Target('16 MiB unary: server CPU a request, against the echo', CPU, *echo(LARGER), 1.25),
        Target('stream of 1 MiB chunks: GB/s, against the bare socket', GB, (STREAM, 'trelu'),
               (STREAM, 'socket'), 0.80, True),
        Target('stream of 1 MiB chunks: GB/s, against the callback server', GB, *callback(STREAM), 1.3,
               True),
        Target('64 B tensors on a stream, 64 in flight: server CPU a tensor, against unary', CPU,
               (TENSORS, 'trelu'), (SMALL_MANY, 'trelu'), 0.68),
        Target('64 B tensors on a stream, 64 in flight: tensors/s, against unary', RATE, (TENSORS, 'trelu'), 
               (SMALL_MANY, 'trelu'), 1.5, True),
        Target('256 MiB by the library, against one unary call', GB, (BY_LIBRARY, 'trelu'),
               (WHOLE, 'trelu'), 1.25, True),
        Target('256 MiB by the library, against one unary call of the library', GB,
               (BY_LIBRARY, 'trelu'), (ONE_CALL, 'trelu'), 1.25, True),
        Target('64 MiB in a region, in place: GB/s, against the connection', GB,
               (LOCAL['in-place'], 'trelu'), (LOCAL['connection'], 'trelu'), 6, True),
        Target('64 MiB into a second region: GB/s, against the connection', GB, (LOCAL['shared'], 'trelu'),
               (LOCAL['connection'], 'trelu'), 6, True),
        Target('64 MiB in a region, in place: GB/s, against the kernel in the process', GB, (LOCAL['in-place'], 'trelu'),
               (KERNEL['kernel-in-place'], 'memory'), 0.7, True),
        Target('64 MiB into a second region: GB/s, against the kernel in the process', GB, (LOCAL['shared'], 'trelu'),
               (KERNEL['kernel'], 'memory'), 0.7, True),
        Target("64 MiB from the caller's own memory: GB/s, against the connection", GB,
               (LOCAL['own'], 'trelu'), (LOCAL['connection'], 'trelu'), 2.5, True),
        Target('1 MiB over TLS: GB/s, against the echo over TLS', GB, *echo(TLS), 0.92, True),
        Target('ModelInfer at 1 MiB: server CPU, against Apply', CPU, (INFER, 'trelu'),
               (Point('faces', bytes=MIB, in_flight=4), 'trelu'), 1.10),
        Target('64 B beside a stream of chunks: p50, against beside the echo', 'p50_us', *echo(MIXED), 1.0),
        Target('64 B beside a stream of chunks: p99, against beside the echo', 'p99_us', *echo(MIXED), 1.2),
        Target('a stream of chunks beside 64 B calls: GB/s, against the echo alone', 'bulk_gb_per_second',
               (MIXED, 'trelu'), (STREAM, 'echo'), 0.9, True, GB),
        Target('from exec to ready, ms', 'ready_ms', (START, 'trelu'), None, 30),
        Target('memory when idle, MiB', 'resident_mib', (START, 'trelu'), None, 25),
    ]
