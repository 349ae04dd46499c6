# SPDX-License-Identifier: Apache-2.0
"""The report: a page of Markdown, and for each process that was watched an SVG and its samples."""

import platform
from pathlib import Path
from typing import Callable, NamedTuple

from watch import Result, Sample, tenth

WIDTH, LEFT, RIGHT, TOP, HEIGHT, GAP = 900, 70, 20, 46, 150, 58


class Panel(NamedTuple):
    title: str
    unit: str
    # Legend, colour, value.
    lines: list[tuple[str, str, Callable[[Sample], int]]]


PANELS = [
    Panel("memory", "KiB", [("VmRSS", "#1f5fa8", lambda s: s.rss), ("of no file", "#c0392b", lambda s: s.private)]),
    Panel("open descriptors", "", [("descriptors", "#1f5fa8", lambda s: s.files)]),
    Panel("children", "", [("running", "#1f5fa8", lambda s: s.children), ("ended, not yet reaped", "#c0392b", lambda s: s.zombies)]),
]


def ticks(most: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to @most or a little more."""
    raw = max(most, 1) / count
    power = 1.0
    while power * 10 <= raw:
        power *= 10
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw and (factor * power) % 1 == 0)
    return [step * i for i in range(int(-(-max(most, 1) // step)) + 1)]


def clock(seconds: float, whole: float) -> str:
    return f"{seconds / 60:g} min" if whole >= 300 else f"{seconds:g} s"


def text(x: float, y: float, content: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{content}</text>'


def draw_panel(panel: Panel, samples: list[Sample], top: float) -> list[str]:
    whole = max(samples[-1].at - samples[0].at, 0.001)
    height = ticks(max(get(s) for s in samples for _, _, get in panel.lines) * 1.05)
    width = WIDTH - LEFT - RIGHT

    def x(at: float) -> float:
        return LEFT + at / whole * width

    def y(value: float) -> float:
        return top + HEIGHT - value / height[-1] * HEIGHT

    unit = whole if whole < 300 else whole / 60
    out = [text(LEFT, top - 8, panel.title + (f", {panel.unit}" if panel.unit else ""), 'font-weight="bold"')]
    out += [f'<rect x="{x(whole * (k - 1) / 10):.1f}" y="{top}" width="{width / 10:.1f}" height="{HEIGHT}" fill="#f2efe6"/>' for k in (2, 10)]
    for value in height:
        out += [f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}" stroke="#ddd"/>',
                text(LEFT - 6, y(value) + 4, f"{value:g}", 'text-anchor="end"')]
    for at in (tick * (1 if whole < 300 else 60) for tick in ticks(unit, 6) if tick <= unit * 1.001):
        out += [f'<line x1="{x(at):.1f}" y1="{top + HEIGHT}" x2="{x(at):.1f}" y2="{top + HEIGHT + 4}" stroke="#555"/>',
                text(x(at), top + HEIGHT + 17, clock(at, whole), 'text-anchor="middle"')]
    for number, (legend, colour, get) in enumerate(panel.lines):
        points = " ".join(f"{x(s.at - samples[0].at):.1f},{y(get(s)):.1f}" for s in samples)
        out += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>',
                text(WIDTH - RIGHT, top - 8 - 14 * (len(panel.lines) - 1 - number), legend, f'text-anchor="end" fill="{colour}"')]
    out.append(f'<path d="M{LEFT},{top} V{top + HEIGHT} H{WIDTH - RIGHT}" fill="none" stroke="#555"/>')
    return out


def draw(title: str, samples: list[Sample]) -> str:
    whole = TOP + len(PANELS) * (HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{whole}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{whole}" fill="white"/>', text(LEFT, 18, title, 'font-size="15"')]
    for number, panel in enumerate(PANELS):
        out += draw_panel(panel, samples, TOP + number * (HEIGHT + GAP))
    return "\n".join([*out, "</svg>\n"])


def rows(samples: list[Sample]) -> list[str]:
    """Least and most of the second and of the last tenth."""
    out = ["| | second tenth | last tenth |", "|---|---|---|"]
    for panel in PANELS:
        for legend, _, get in panel.lines:
            spans = [f"{min(map(get, part))} to {max(map(get, part))}" for part in (tenth(samples, 2), tenth(samples, 10))]
            out.append(f"| {panel.title}: {legend} {panel.unit} | {spans[0]} | {spans[1]} |")
    return out


def write(results: list[Result], folder: Path) -> Path:
    lines = ["# Long runs", "", f"Linux {platform.release()}, {platform.machine()}. The rule: the median memory of the last tenth of the time is "
             "at most that of the second tenth and two pages; the fewest descriptors, threads and children are no more. Both are grey in "
             "the graphs.", ""]
    for result in results:
        verdict = f"skipped: {result.skipped}" if result.skipped else "FAILED" if result.wrong else "passed"
        lines += [f"## {result.name}: {verdict}", "", f"{result.about}; {result.seconds:.0f} s.", ""]
        lines += [f"- **{what}**" for what in result.wrong] + ([""] if result.wrong else [])
        if result.figures:
            lines += ["| | |", "|---|---|", *(f"| {name} | {figure} |" for name, figure in result.figures.items()), ""]
        for title, samples in result.watched:
            if len(samples) < 2:
                continue
            (folder / f"{result.name}.svg").write_text(draw(f"{result.name}: {title}", samples), encoding="utf-8")
            (folder / f"{result.name}.csv").write_text("\n".join([",".join(Sample._fields), *(
                ",".join(f"{value:.1f}" if isinstance(value, float) else str(value) for value in s) for s in samples)]) + "\n", encoding="utf-8")
            lines += [f"### {title}", "", f"![]({result.name}.svg)", "", *rows(samples), ""]
    path = folder / "report.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
