"""Curves of bench/growth: tables, what they say about growth, and a chart."""

import math

TITLES = {
    "runs": "Number of runs",
    "value": "Value bytes",
    "dup": "Percent of records that are further versions",
    "overlap": "Percent of ids that any run may hold",
    "size": "GB of raw input",
    "threads": "Threads",
}
LOG_X = ("runs", "value", "size", "threads")
FIRST_OF_LOG = 8  # runs from which the logarithm is held against the cost
NOISE_LEAST = 0.10
SIZE_FROM_GB = 1.0
FLAT_SIZE_GB = 0.3  # below it, fixed costs of a compaction show


def ns_per_record(figures):
    return 1e9 / figures["records_per_cpu_s"]


def by_codec(results, curve):
    """(codec and file system, points in the order of x) of one curve."""
    out = {}
    for result in results:
        if result["curve"] == curve:
            where = f"{result['codec']}, {result['environment']['file_system']}"
            out.setdefault(where, []).append(result)
    return [(codec, sorted(points, key=lambda point: point["x"])) for codec, points in out.items()]


def line_fit(points):
    """a, b of y = a + b*x with the least relative errors."""
    weights = [(x, y, 1 / (y * y)) for x, y in points]
    w = sum(weight for _, _, weight in weights)
    wx = sum(weight * x for x, _, weight in weights)
    wy = sum(weight * y for _, y, weight in weights)
    wxx = sum(weight * x * x for x, _, weight in weights)
    wxy = sum(weight * x * y for x, y, weight in weights)
    determinant = w * wxx - wx * wx
    slope = (w * wxy - wx * wy) / determinant
    return (wy - slope * wx) / w, slope


def verdict_runs(points, figures_of):
    costs = {point["x"]: ns_per_record(figures_of(point)) for point in points}
    most = max(costs)
    if FIRST_OF_LOG not in costs or most <= FIRST_OF_LOG:
        return None
    grown = costs[most] / costs[FIRST_OF_LOG]
    allowed = math.log2(most) / math.log2(FIRST_OF_LOG)
    fixed, slope = line_fit([(math.log2(x), y) for x, y in costs.items()])
    return (f"{grown:.2f} times the cost per record at {most} runs as at {FIRST_OF_LOG}, log2 "
            f"grows {allowed:.2f} times: {'holds' if grown <= allowed else 'does not hold'}; "
            f"fitted {fixed:.0f} + {slope:.0f} * log2(runs) ns")


def verdict_size(points, figures_of):
    first = min(points, key=lambda point: abs(point["x"] - SIZE_FROM_GB))
    last = points[-1]
    if last["x"] <= first["x"]:
        first = next((point for point in points if point["x"] >= FLAT_SIZE_GB), points[0])
    if last is first:
        return None
    grown = ns_per_record(figures_of(last)) / ns_per_record(figures_of(first))
    noise = max(NOISE_LEAST, *(figures_of(point)["cpu_spread"] for point in (first, last)))
    return (f"{grown:.2f} times the cost per record at {last['x']:g} GB as at {first['x']:g} "
            f"GB, noise {noise:.0%}: {'flat' if grown <= 1 + noise else 'grows'}")


def verdict_value(points, figures_of):
    cost = [(point["sinter"]["raw_bytes_in"] / point["records"], ns_per_record(figures_of(point)))
            for point in points]
    fixed, slope = line_fit(cost)
    worst = max(abs(fixed + slope * x - y) / y for x, y in cost)
    return (f"fitted {fixed:.0f} ns per record + {slope:.2f} ns per byte, at most {worst:.0%} off")


def verdict_ends(points, figures_of):
    first, last = (ns_per_record(figures_of(point)) for point in (points[0], points[-1]))
    return (f"{last / first:.2f} times the cost per record at {points[-1]['x']} as at "
            f"{points[0]['x']}")


def verdict_threads(points, figures_of):
    first, last = figures_of(points[0]), figures_of(points[-1])
    return (f"{first['wall_s'] / last['wall_s']:.2f} times as fast by wall time with "
            f"{points[-1]['x']} as with {points[0]['x']}, CPU "
            f"{ns_per_record(last) / ns_per_record(first):.2f} times")


VERDICTS = {"runs": verdict_runs, "size": verdict_size, "value": verdict_value,
            "dup": verdict_ends, "overlap": verdict_ends, "threads": verdict_threads}


def columns(points):
    """Who was measured: names and what gives their figures at a point, or None."""
    names = list(dict.fromkeys(name for point in points for name in point["peers"]))
    out = [("sinter", lambda point: point["sinter"])]
    return out + [(name, lambda point, name=name: point["peers"].get(name)) for name in names]


CELLS = (
    ("CPU ns/record", lambda each: f"{ns_per_record(each):.0f}"),
    ("CPU ns/byte", lambda each: f"{each['cpu_s_per_gb']:.2f}"),
    ("wall s", lambda each: f"{each['wall_s']:.2f}"),
    ("peak MiB", lambda each: f"{each['rss_mib']:.1f}"),
    ("file MB in", lambda each: f"{each['bytes_in'] / 1e6:.1f}"),
    ("file MB out", lambda each: f"{each['bytes_out'] / 1e6:.1f}"),
)


def short(number):
    for size, letter in ((2 ** 20, "Mi"), (2 ** 10, "Ki")):
        if number >= size and number % size == 0:
            return f"{number // size:g}{letter}"
    return f"{number:g}"


def row(curve, point, names):
    cells = [short(point["x"])]
    for _, show in CELLS:
        cells.append(" / ".join(show(figures_of(point)) if figures_of(point) else "-"
                                for _, figures_of in names))
    ratio = [point["ratios"].get(name) for name, _ in names[1:]]
    cells.append(" / ".join(f"**{each['cpu_median']:.2f}** ({each['cpu_min']:.2f}-"
                            f"{each['cpu_max']:.2f})" if each else "-" for each in ratio) or "-")
    if curve == "overlap":
        blocks = point["sinter"]
        cells.append(f"{100 * blocks['blocks_passed'] / max(1, blocks['blocks_in']):.0f} %")
    return "| " + " | ".join(cells) + " |"


def print_curve(curve, codec, points):
    names = columns(points)
    who = " / ".join(name for name, _ in names)
    rounds = sorted({point["rounds"] for point in points}, reverse=True)
    print(f"\n**{TITLES[curve]}**, {codec}: {who}; rounds: {', '.join(map(str, rounds))}\n")
    head = [curve, *(name for name, _ in CELLS), "CPU by sinter's (range)"]
    head += ["blocks passed"] if curve == "overlap" else []
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for point in points:
        print(row(curve, point, names))
    print()
    for name, figures_of in names:
        measured = [point for point in points if figures_of(point)]
        said = VERDICTS[curve](measured, figures_of) if len(measured) > 1 else None
        if said:
            print(f"- {name}: {said}.")


def print_markdown(results):
    for curve in TITLES:
        for codec, points in by_codec(results, curve):
            print_curve(curve, codec, points)


COLOURS = {"sinter": "#1d4e89", "rocksdb64k": "#d98e04", "sinter-defaults": "#7a8fa6"}
PANEL_W, PANEL_H, LEFT, TOP, BOTTOM, RIGHT, PER_ROW, HEAD = 380, 250, 52, 34, 34, 14, 2, 52


def text(x, y, words, anchor="start", size=11, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{words}</text>')


class Scale:
    """Values to pixels."""

    def __init__(self, values, pixels, is_log):
        self.is_log = is_log
        self.low = min(values) if is_log else 0
        self.high = max(values) * (1 if is_log else 1.05)
        self.begin, self.end = pixels

    def place(self, value):
        if self.high <= self.low:
            return self.begin
        if self.is_log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = value / self.high
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        if self.is_log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            found = [10.0 ** i for i in range(first, last + 1)]
            return [each for each in found if self.low <= each <= self.high]
        step = 10 ** math.floor(math.log10(self.high))
        step = next(step / part for part in (1, 2, 4, 5, 10) if self.high / (step / part) >= 3)
        return [i * step for i in range(int(self.high / step) + 1)]


def panel(curve, where, points, corner):
    left, top = corner
    box = (left + LEFT, left + PANEL_W - RIGHT, top + TOP, top + PANEL_H - BOTTOM)
    names = columns(points)
    is_wall = curve == "threads"
    unit = "wall s" if is_wall else "CPU ns per record"

    def cost(figures):
        return figures["wall_s"] if is_wall else ns_per_record(figures)

    costs = [cost(figures_of(point)) for point in points for _, figures_of in names
             if figures_of(point)]
    xs = Scale([point["x"] for point in points], box[:2], curve in LOG_X)
    ys = Scale(costs, (box[3], box[2]), curve == "value")
    yield text(box[0], top + 14, TITLES[curve], size=12, weight="bold")
    yield text(box[0], top + 28, f"{unit}; {where}", size=10)
    for tick in ys.ticks():
        y = ys.place(tick)
        yield f'<line x1="{box[0]}" y1="{y:.1f}" x2="{box[1]}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield text(box[0] - 5, y + 4, f"{tick:g}", "end", 10)
    last = -100.0
    for point in points:
        x = xs.place(point["x"])
        if x - last > 24:
            yield text(x, box[3] + 15, short(point["x"]), "middle", 10)
            last = x
    for name, figures_of in names:
        line = [(xs.place(point["x"]), ys.place(cost(figures_of(point)))) for point in points
                if figures_of(point)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        dash = ' stroke-dasharray="5 3"' if name == "sinter-defaults" else ""
        yield (f'<polyline points="{path}" fill="none" stroke="{COLOURS.get(name, "#888888")}" '
               f'stroke-width="2"{dash}/>')
        for x, y in line:
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" '
                   f'fill="{COLOURS.get(name, "#888888")}"/>')


def chart(results):
    """All curves, small, side by side; of several codecs or file systems the one that reaches
    furthest, or else the first."""
    drawn = [(curve, by_codec(results, curve)) for curve in TITLES]
    drawn = [(curve, max(codecs, key=lambda found: found[1][-1]["x"]))
             for curve, codecs in drawn if codecs]
    rows = (len(drawn) + PER_ROW - 1) // PER_ROW
    width, height = PER_ROW * PANEL_W, HEAD + rows * PANEL_H
    body = [text(LEFT, 22, "Cost of a compaction as it grows", size=15, weight="bold")]
    x = LEFT
    for name in dict.fromkeys(name for _, (_, points) in drawn for name, _ in columns(points)):
        body.append(f'<rect x="{x}" y="33" width="14" height="4" '
                    f'fill="{COLOURS.get(name, "#888888")}"/>')
        body.append(text(x + 18, 39, name, size=11))
        x += 130
    for number, (curve, (where, points)) in enumerate(drawn):
        corner = (number % PER_ROW * PANEL_W, HEAD + number // PER_ROW * PANEL_H)
        body.extend(panel(curve, where, points, corner))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'font-family="sans-serif" fill="#222222"><rect width="100%" height="100%" '
            f'fill="#ffffff"/>' + "".join(body) + "</svg>\n")
