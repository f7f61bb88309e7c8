"""How fast many machines would train, from the time of one and the bytes that they exchange."""

from typing import NamedTuple

MACHINES = (2, 4, 8, 16, 32, 64)
NETWORKS = {"10 Gb/s": 10e9 / 8, "100 Gb/s": 100e9 / 8}  # bytes per second, in each direction


class Measured(NamedTuple):
    """One machine's share of a step, alone.

    Attributes:
      pairs: of its share.
      seconds: of its step.
      dense_bytes: of its dense gradients.
      sparse_bytes: of the rows of its sparse gradient, with their numbers.
    """

    pairs: int
    seconds: float
    dense_bytes: float
    sparse_bytes: float


def exchange_seconds(share: Measured, machines: int, bandwidth: float) -> float:
    """Of a step's exchange, where bandwidth alone counts.

    A ring sends 2 (n - 1) / n of the dense gradients from each machine, and collects the rows of
    all n - 1 others.
    """
    dense = 2 * (machines - 1) / machines * share.dense_bytes
    return (dense + (machines - 1) * share.sparse_bytes) / bandwidth


def scaled(shares: list[Measured], pairs: float) -> Measured:
    """A share of other size: time by a line through the smallest and the largest, rows in ratio."""
    small, large = shares[0], shares[-1]
    slope = (large.seconds - small.seconds) / max(1, large.pairs - small.pairs)
    seconds = max(small.seconds + slope * (pairs - small.pairs), 1e-6)
    return Measured(pairs, seconds, small.dense_bytes, small.sparse_bytes * pairs / small.pairs)


def half_point(shares: list[Measured], machines: int, bandwidth: float) -> float:
    """The pairs of a share whose exchange takes as long as its computation; 0 = always less."""
    low, high = 0.0, 2.0**20
    if _excess(shares, low, machines, bandwidth) <= 0:
        return 0.0
    if _excess(shares, high, machines, bandwidth) > 0:
        return float("inf")
    for _ in range(60):
        middle = (low + high) / 2
        is_above = _excess(shares, middle, machines, bandwidth) > 0
        low, high = (middle, high) if is_above else (low, middle)
    return high


def _excess(shares, pairs, machines, bandwidth):
    share = scaled(shares, pairs)
    return exchange_seconds(share, machines, bandwidth) - share.seconds


def estimate_tables(shares: list[Measured]) -> str:
    """Markdown: for each share the efficiency by machines and network, and the half points."""
    lines = ["| network | machines | " + " | ".join(f"{s.pairs} pairs each" for s in shares)]
    lines[0] += " | exchange takes half below |"
    lines.append("|---|---|" + "---|" * (len(shares) + 1))
    for name, bandwidth in NETWORKS.items():
        for machines in MACHINES:
            cells = []
            for share in shares:
                exchange = exchange_seconds(share, machines, bandwidth)
                speed = machines * share.pairs / (share.seconds + exchange)
                part = share.seconds / (share.seconds + exchange)
                cells.append(f"{speed:,.0f} pairs/s, {part:.0%}")
            half = half_point(shares, machines, bandwidth)
            cells.append(f"{half:.0f} pairs each")
            lines.append(f"| {name} | {machines} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
