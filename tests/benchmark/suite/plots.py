"""The results as SVG: rate by size, latency by load, processor time by size."""
import matplotlib

matplotlib.use('svg')
matplotlib.rcParams['svg.fonttype'] = 'none'   # text stays text
matplotlib.rcParams['svg.hashsalt'] = 'trelu'  # the same picture, the same file
import matplotlib.pyplot as pyplot  # noqa: E402  (the backend is chosen first)

import plan  # noqa: E402

NAMES = {'trelu': 'trelu', 'callback': 'protobuf + callback API', 'echo': 'gRPC echo', 'socket': 'bare socket',
         'memory': 'memcpy'}
COLOURS = {'trelu': '#d1495b', 'callback': '#8d96a3', 'echo': '#00798c', 'socket': '#30638e',
           'memory': '#edae49'}


def lines(results, points, metric, x_of, scale=lambda x: 1.0):
    """(subject, xs, ys) of the points for each subject that has the figure."""
    for subject in NAMES:
        pairs = [(x_of(point), results.median(point, subject, metric)) for point in points]
        pairs = [(x, y * scale(x)) for x, y in pairs if y]
        if pairs:
            yield subject, *zip(*pairs)


def draw(path, title, x_label, y_label, series, log_y=False, sizes=True):
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for subject, xs, ys in series:
        axes.plot(xs, ys, marker='o', markersize=4, label=NAMES[subject], color=COLOURS[subject])
    axes.set_xscale('log', base=2)
    if log_y:
        axes.set_yscale('log')
    else:
        axes.set_ylim(bottom=0)
    if sizes:
        axes.xaxis.set_major_formatter(lambda x, _: plan.size(int(x)))
    else:
        axes.xaxis.set_major_formatter(lambda x, _: f'{x:g}')
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={'Date': None})
    pyplot.close(figure)


def draw_all(results, points, directory):
    def group(name):
        return [point for point in points if point.group == name]

    by_size = group('unary by size')
    memory = [point for point in points if point.group == 'memcpy']
    rates = list(lines(results, by_size + memory, plan.GB, lambda p: p.bytes))
    draw(directory / 'rate_by_size.svg', 'Calls of one message', 'tensor', 'GB/s each way', rates, log_y=True)
    draw(directory / 'rate_by_chunk.svg', 'One stream', 'chunk', 'GB/s each way',
         lines(results, group('stream by chunk'), plan.GB, lambda p: p.bytes))
    loads = sorted(group('in flight') + [plan.SMALL_BASE], key=lambda p: p.in_flight)
    draw(directory / 'latency_by_load.svg', '64 B tensors: median latency', 'calls in flight', 'microseconds',
         lines(results, loads, 'p50_us', lambda p: p.in_flight), log_y=True, sizes=False)
    draw(directory / 'cpu_by_size.svg', "Server's processor time a call", 'tensor', 'microseconds',
         lines(results, by_size, plan.CPU, lambda p: p.bytes), log_y=True)
