"""Medians, ratios, the table on the terminal, and tables for documents."""

import json
import platform
import statistics
import subprocess
import sys

from harness import ROOT

NOISY = 0.10  # repetitions of one program that differ by more than this are marked


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def median_of(results, key):
    return statistics.median(result[key] for result in results)


def figures(bench, results):
    """One program's medians."""
    records = bench.expected["records"]
    gigabytes = bench.expected["bytes_in"] / 1e9
    cpu = [result["cpu_s"] for result in results]
    first = results[0]
    return {
        "records_per_cpu_s": round(statistics.median(records / each for each in cpu)),
        "cpu_s_per_gb": round(statistics.median(each / gigabytes for each in cpu), 4),
        "wall_s": round(median_of(results, "wall_s"), 4),
        "rss_mib": round(median_of(results, "rss_mib"), 2),
        "bytes_in": first["file_bytes_in"],
        "bytes_out": first["file_bytes_out"],
        "blocks_passed": first["blocks_passed"],
        "out_fnv": first["out_fnv"],
        "blocks_in": first["blocks_in"],
        "raw_bytes_in": bench.expected["bytes_in"],
        "cpu_spread": round((max(cpu) - min(cpu)) / statistics.median(cpu), 3),
        "io": first["io"],
        "io_reads": first["io_reads"],
        "io_read_bytes": first["io_read_bytes"],
        "io_ring_calls": first["io_ring_calls"],
        "library": first["library"],
    }


def ratio(above, below):
    """Of CPU times, round by round."""
    each = [a["cpu_s"] / b["cpu_s"] for a, b in zip(above, below)]
    return {
        "cpu_median": round(statistics.median(each), 3),
        "cpu_min": round(min(each), 3),
        "cpu_max": round(max(each), 3),
    }


def file_system_of(path):
    found = subprocess.run(["stat", "-f", "-c", "%T", path], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return found.stdout.strip() or "unknown"


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def commit():
    found = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], check=False,
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return found.stdout.strip() or "unknown"


def summary(bench, arguments, results):
    """The object of one line of the JSON file. Ratios: a peer's CPU time by sinter's (how many
    times the records per CPU second), and sinter's CPU time by the limit's."""
    peers = {name: each for name, each in results.items() if name not in ("sinter", "limit")}
    out = {
        "workload": bench.workload,
        "codec": bench.codec,
        "div": bench.div,
        "rounds": arguments.rounds,
        "sinter": figures(bench, results["sinter"]),
        "peers": {name: figures(bench, each) for name, each in peers.items()},
        "limit": None,
        "ratios": {name: ratio(each, results["sinter"]) for name, each in peers.items()},
        "environment": {
            "commit": commit(),
            "processor": processor(),
            "kernel": platform.release(),
            "file_system": file_system_of(bench.directory),
            "threads": bench.threads,
            "beside": bench.beside,
        },
    }
    if "limit" in results:
        out["limit"] = figures(bench, results["limit"])
        out["ratios"]["limit"] = ratio(results["sinter"], results["limit"])
    return out


def table_rows(result):
    yield "sinter", result["sinter"], None
    for name, peer in result["peers"].items():
        yield name, peer, result["ratios"][name]
    if result["limit"]:
        yield "limit", result["limit"], result["ratios"]["limit"]


def print_table(result):
    environment = result["environment"]
    print(f"\n{result['workload']} {result['codec']} div {result['div']}, {result['rounds']} rounds"
          f", {environment['file_system']}, {environment['processor']},"
          f" {environment['commit']}")
    print(f"{'':15}{'records/CPU s':>14}{'CPU s/GB':>10}{'MB/s':>8}{'wall s':>9}{'MiB':>7}"
          f"{'MB in':>9}{'MB out':>9}{'passed':>11}  ratio of CPU (range)")
    for name, row, ratios in table_rows(result):
        passed = f"{row['blocks_passed']}/{row['blocks_in']}" if row["blocks_in"] else "-"
        shown = ""
        if ratios:
            shown = (f"{ratios['cpu_median']:.2f} ({ratios['cpu_min']:.2f}-"
                     f"{ratios['cpu_max']:.2f})")
        noisy = " ~" if row["cpu_spread"] > NOISY else ""
        print(f"{name:15}{row['records_per_cpu_s']:14,}{row['cpu_s_per_gb']:10.3f}"
              f"{row['raw_bytes_in'] / row['wall_s'] / 1e6:8.0f}{row['wall_s']:9.3f}"
              f"{row['rss_mib']:7.1f}{row['bytes_in'] / 1e6:9.1f}{row['bytes_out'] / 1e6:9.1f}"
              f"{passed:>11}  {shown}{noisy}")
    print(f"{'':15}verified: {result['sinter']['out_fnv']}; peers: "
          + (", ".join(f"{name} is {peer['library']}" for name, peer in result["peers"].items())
             or "none") + f"; io of sinter: {result['sinter']['io']},"
          f" {result['sinter']['io_ring_calls']} calls through a ring")
    print(f"{'':15}ratio of a peer: its CPU time by sinter's; of the limit: sinter's by it;"
          " ~ repetitions differ by more than 10 %", flush=True)


def markdown_row(result, peers):
    sinter = result["sinter"]
    cells = [result["workload"], result["codec"], f"{sinter['records_per_cpu_s'] / 1e6:.2f}",
             f"{sinter['cpu_s_per_gb']:.2f}"]
    for name in [*peers, "limit"]:
        each = result["ratios"].get(name)
        cells.append(f"**{each['cpu_median']:.2f}** ({each['cpu_min']:.2f}-{each['cpu_max']:.2f})"
                     if each else "-")
    cells.append(f"{sinter['wall_s']:.2f}")
    everybody = [sinter, *(result["peers"].get(name) for name in peers)]
    for key, unit in (("rss_mib", 1), ("bytes_in", 1e6), ("bytes_out", 1e6)):
        cells.append(" / ".join(f"{each[key] / unit:.1f}" if each else "-" for each in everybody))
    cells.append(f"{100 * sinter['blocks_passed'] / sinter['blocks_in']:.0f} %")
    return "| " + " | ".join(cells) + " |"


def print_markdown(results):
    """A table for a document. A peer that lacks a codec has no figure there."""
    peers = list(dict.fromkeys(name for result in results for name in result["peers"]))
    head = ["workload", "codec", "10^6 records / CPU s", "CPU s/GB"]
    head += [f"times {name}" for name in peers]
    head += ["CPU / limit", "wall s"]
    columns = " / ".join(["sinter", *peers])
    head += [f"peak MiB: {columns}", f"file MB in: {columns}", f"file MB out: {columns}",
             "blocks passed"]
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for result in results:
        print(markdown_row(result, peers))


def main():
    """report.py FILE: the lines of a JSON file of bench/run as a Markdown table."""
    with open(sys.argv[1], encoding="utf-8") as lines:
        print_markdown([json.loads(line) for line in lines])


if __name__ == "__main__":
    main()
