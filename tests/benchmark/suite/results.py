"""What the rounds gave: medians, and ratios taken within each round, so that a slow moment of the
machine falls on both sides."""
import statistics


class Results:
    def __init__(self):
        self.rounds = {}  # (point, subject) -> a dict of figures for each round

    def add(self, point, subject, figures):
        self.rounds.setdefault((point, subject), []).append(figures)

    def subjects(self, point):
        return [subject for known, subject in self.rounds if known == point]

    def median(self, point, subject, metric):
        """None where the subject has no such figure."""
        values = [figures[metric] for figures in self.rounds.get((point, subject), []) if metric in figures]
        return statistics.median(values) if values else None

    def ratio(self, of, to, metric, to_metric=None):
        """The median of the rounds' ratios, with the least and the greatest; None without figures."""
        pairs = zip(self.rounds.get(of, []), self.rounds.get(to, []))
        values = [a[metric] / b[to_metric or metric] for a, b in pairs
                  if metric in a and b.get(to_metric or metric)]
        return (statistics.median(values), min(values), max(values)) if values else None

    def target(self, target):
        """Like ratio, of what a target is about."""
        if target.to:
            return self.ratio(target.of, target.to, target.metric, target.to_metric)
        values = [figures[target.metric] for figures in self.rounds.get(target.of, [])]
        return (statistics.median(values), min(values), max(values)) if values else None
