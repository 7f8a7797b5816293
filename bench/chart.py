#!/usr/bin/env python3
"""chart.py FILE [PEER] > OUT.svg: how many times a peer's records per CPU second, from the lines of
bench/run --json; a bar is the median of the rounds, its whisker their range."""

import json
import sys

COLOURS = {"none": "#7a8fa6", "lz4": "#3b82c4", "zstd1": "#1d4e89", "zstd3": "#0b2545"}
LEFT, RIGHT, TOP, BAR, GAP, WIDTH = 60, 70, 56, 13, 14, 760


def text(x, y, words, anchor="start", size=12, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{words}</text>')


def bar(y, codec, ratio, scale):
    end = LEFT + ratio["cpu_median"] * scale
    middle = y + BAR / 2
    low, high = (LEFT + ratio[key] * scale for key in ("cpu_min", "cpu_max"))
    yield (f'<rect x="{LEFT}" y="{y:.1f}" width="{end - LEFT:.1f}" height="{BAR - 2}" '
           f'fill="{COLOURS.get(codec, "#888888")}"/>')
    yield (f'<line x1="{low:.1f}" y1="{middle - 1:.1f}" x2="{high:.1f}" y2="{middle - 1:.1f}" '
           f'stroke="#d98e04" stroke-width="2"/>')
    yield text(max(end, high) + 5, y + BAR - 3, f'{ratio["cpu_median"]:.2f} {codec}', size=11)


def chart(results, peer):
    rows = [each for each in results if peer in each["ratios"]]
    most = max(each["ratios"][peer]["cpu_max"] for each in rows)
    scale = (WIDTH - LEFT - RIGHT) / most
    body = []
    y = TOP
    workload = None
    for each in rows:
        if each["workload"] != workload:
            y += GAP if workload else 0
            workload = each["workload"]
            body.append(text(LEFT - 8, y + BAR - 2, workload, "end", 13, "bold"))
        body.extend(bar(y, each["codec"], each["ratios"][peer], scale))
        y += BAR + 2
    step = next(each for each in (1, 2, 5, 10, 20, 50, 100) if most < 16 * each or each == 100)
    for times in sorted({1, *range(0, int(most) + 1, step)}):
        x = LEFT + times * scale
        body.insert(0, f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{y + 4:.1f}" stroke='
                       f'"{"#c0392b" if times == 1 else "#dddddd"}"/>')
        if times % step == 0:
            body.append(text(x, y + 18, f"{times}x", "middle", 11))
    title = text(LEFT, 20, f"Records per CPU second, times {peer}", size=15, weight="bold")
    note = text(LEFT, 38, f"div {rows[0]['div']}, one thread; bars are medians, lines the range of "
                f"{rows[0]['rounds']} rounds", size=11)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 28:.0f}" '
            f'font-family="sans-serif" fill="#222222"><rect width="100%" height="100%" '
            f'fill="#ffffff"/>{title}{note}' + "".join(body) + "</svg>\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        results = [json.loads(line) for line in lines]
    sys.stdout.write(chart(results, sys.argv[2] if len(sys.argv) > 2 else "rocksdb64k"))


if __name__ == "__main__":
    main()
