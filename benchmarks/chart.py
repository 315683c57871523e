"""Figures of a run as a table in Markdown and as a bar chart in SVG."""

from collections.abc import Mapping, Sequence

Figures = Mapping[str, Mapping[str, Sequence[float]]]
"""By load and server: requests a second, the ratio to plain aiohttp, CPU, its ratio, p50, p99."""

_WIDTH, _BAR, _GAP, _LEFT = 640, 14, 18, 190
_COLOURS = (
    *("#2f6f4f", "#5b9f7f", "#888888", "#c08040"),
    *("#8060a0", "#a04040", "#4070a0", "#70a0c0"),
)


def table(figures: Figures) -> str:
    """Return one row a load and a server."""
    head = "| load | server | req/s | x plain | CPU µs | x plain | p50 ms | p99 ms |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    for load, servers in figures.items():
        for server, (per, ratio, cpu, cpu_ratio, p50, p99) in servers.items():
            cells = f"{per:.0f} | {ratio:.2f} | {cpu:.1f} | {cpu_ratio:.2f} | {p50:.2f} | {p99:.2f}"
            rows.append(f"| {load} | {server} | {cells} |")
    return "\n".join(rows) + "\n"


def chart(figures: Figures) -> str:
    """Return a bar for each load and server: how many times less CPU than plain aiohttp."""
    names = list(dict.fromkeys(name for servers in figures.values() for name in servers))
    most = max((row[3] for servers in figures.values() for row in servers.values()), default=1)
    y, parts = 24, []
    for load, servers in figures.items():
        parts.append(f'<text x="8" y="{y + 11}" font-weight="bold">{load}</text>')
        for name, row in servers.items():
            width = (_WIDTH - _LEFT - 60) * row[3] / most
            colour = _COLOURS[names.index(name) % len(_COLOURS)]
            parts.append(f'<text x="{_LEFT - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
            bar = f'x="{_LEFT}" y="{y}" width="{width:.0f}" height="{_BAR}" fill="{colour}"'
            parts.append(f"<rect {bar}/>")
            parts.append(f'<text x="{_LEFT + width + 5:.0f}" y="{y + 11}">{row[3]:.2f}</text>')
            y += _GAP
        y += 8
    title = "CPU for a request, plain aiohttp over the server (more is quicker)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" '
        'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{_WIDTH}" height="{y}" fill="white"/>\n'
        f'<text x="8" y="14">{title}</text>\n' + "\n".join(parts) + "\n</svg>\n"
    )
