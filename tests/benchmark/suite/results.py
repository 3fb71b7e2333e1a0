"""What the rounds gave: medians, and ratios taken within each turn, so that a slow moment of the
machine falls on both sides."""
import statistics


class Results:
    def __init__(self):
        self.turns = {}  # (point, subject) -> (round, turn) -> a dict of figures

    def add(self, point, subject, when, figures):
        self.turns.setdefault((point, subject), {})[when] = figures

    def subjects(self, point):
        return [subject for known, subject in self.turns if known == point]

    def median(self, point, subject, metric):
        """None where the subject has no such figure."""
        values = [figures[metric] for figures in self.turns.get((point, subject), {}).values() if metric in figures]
        return statistics.median(values) if values else None

    def ratio(self, of, to, metric, to_metric=None):
        """The median of the turns' ratios, with the least and the greatest; None without figures."""
        others = self.turns.get(to, {})
        pairs = [(figures, others[when]) for when, figures in self.turns.get(of, {}).items() if when in others]
        values = [a[metric] / b[to_metric or metric] for a, b in pairs
                  if metric in a and b.get(to_metric or metric)]
        return (statistics.median(values), min(values), max(values)) if values else None

    def target(self, target):
        """Like ratio, of what a target is about."""
        if target.to:
            return self.ratio(target.of, target.to, target.metric, target.to_metric)
        values = [figures[target.metric] for figures in self.turns.get(target.of, {}).values()]
        return (statistics.median(values), min(values), max(values)) if values else None
