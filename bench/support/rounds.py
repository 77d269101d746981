"""Statistics of interleaved rounds, and the line that a benchmark prints."""

import json
import statistics


class Rounds:
    """What was measured of the candidate and of its baseline, round by round."""

    def __init__(self):
        self.values = []
        self.baselines = []

    def add(self, baseline, value):
        """One round: the baseline and the candidate, measured one after the other."""
        self.baselines.append(baseline)
        self.values.append(value)

    def value(self):
        """The median of the candidate."""
        return statistics.median(self.values)

    def baseline(self):
        """The median of the baseline."""
        return statistics.median(self.baselines)

    def ratio(self):
        """The median of the ratios of each round, which varies least when the machine changes
        speed; nothing when the baseline is zero."""
        if min(self.baselines) <= 0:
            return None
        return statistics.median(v / b for v, b in zip(self.values, self.baselines))


def rounded(value):
    """A number with four significant digits or, when it is large, without a fraction."""
    if isinstance(value, float):
        return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def print_result(bench, unit, rounds, baseline, **more):
    """Prints the result."""
    result = {
        "bench": bench,
        "value": rounds.value(),
        "unit": unit,
        "baseline": baseline,
        "baseline_value": rounds.baseline(),
        "ratio": rounds.ratio(),
        "rounds": len(rounds.values),
        "min": min(rounds.values),
        "max": max(rounds.values),
        **more,
    }
    print(json.dumps({key: rounded(value) for key, value in result.items()}), flush=True)
