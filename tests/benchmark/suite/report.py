"""The results as tables for people and as JSON for programs."""
import dataclasses

import plan


def rows_of(results, point):
    for subject in results.subjects(point):
        def figure(metric):
            return results.median(point, subject, metric)

        ceiling = next((c for c in ('echo', 'socket') if c in results.subjects(point)), None)
        ratio = cpu_ratio = None
        if ceiling and subject != ceiling:
            of, to = (point, subject), (point, ceiling)
            ratio = results.ratio(of, to, plan.RATE)
            cpu_ratio = results.ratio(of, to, plan.CPU)
        yield subject, figure, ratio and ratio[0], cpu_ratio and cpu_ratio[0]


def number(value, digits=3):
    if value is None:
        return ''
    if value >= 100:
        return f'{value:,.0f}'
    return f'{value:.{digits}g}'


def table(results, points):
    """Markdown, a table a group."""
    lines, group = [], None
    for point in points:
        if point in (plan.START, plan.MIXED):
            continue
        if point.group != group:
            group = point.group
            lines += ['', f'### {group}', '',
                      '| | | requests/s | GB/s | p50 us | p99 us | server CPU us | s/GB | rate/echo | CPU/echo |',
                      '|---|---|---:|---:|---:|---:|---:|---:|---:|---:|']
        for subject, figure, ratio, cpu_ratio in rows_of(results, point):
            cpu = figure(plan.CPU) or None
            per_gb = cpu * 1e3 / point.bytes if cpu and point.bytes >= plan.KIB else None
            cells = [number(figure(plan.RATE)), number(figure(plan.GB)), number(figure('p50_us')),
                     number(figure('p99_us')), number(cpu), number(per_gb), number(ratio),
                     number(cpu_ratio)]
            lines.append(f'| {point.label()} | {subject} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def targets_table(results, targets):
    lines = ['| figure | target | measured | rounds | |', '|---|---:|---:|---|---|']
    for target in targets:
        measured = results.target(target)
        if measured is None:
            continue
        value, low, high = measured
        bound = ('at least ' if target.above else 'at most ') + f'{target.bound:g}'
        lines.append(f'| {target.what} | {bound} | {number(value)} | {number(low)} to {number(high)} | '
                     f'{"met" if target.met(value) else "**missed**"} |')
    return '\n'.join(lines)


def as_json(results, targets, machine):
    measurements = [{'point': dataclasses.asdict(point), 'subject': subject,
                     'turns': [{'round': number, 'turn': turn} | figures for (number, turn), figures in turns.items()]}
                    for (point, subject), turns in results.turns.items()]
    judged = []
    for target in targets:
        if measured := results.target(target):
            judged.append({'figure': target.what, 'bound': target.bound,
                           'at': 'least' if target.above else 'most', 'median': measured[0],
                           'least': measured[1], 'greatest': measured[2], 'met': target.met(measured[0])})
    return {'machine': machine, 'targets': judged, 'measurements': measurements}
