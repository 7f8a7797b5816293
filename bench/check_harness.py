#!/usr/bin/env python3
"""What bench/run relies on in its own modules, without a compaction: wrong inputs and wrong outputs
end a run, a process that stays warm is used again and its end is noticed, peers that need Java are
left out where it is not, and report and chart know them."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import chart  # noqa: E402
import harness  # noqa: E402
import paimon  # noqa: E402
import report  # noqa: E402

EXPECTED = {"records": 3, "bytes_in": 48, "in_fnv": "a", "live": 2, "bytes_out": 32, "out_fnv": "b"}
COST = {"cpu_s": 1.0, "wall_s": 1.0, "rss_mib": 1.0, "file_bytes_in": 1, "file_bytes_out": 1,
        "blocks_passed": 0, "blocks_in": 0, "io": "java", "io_reads": 0, "io_read_bytes": 0,
        "io_ring_calls": 0, "library": "a peer"}
# Stands for every program; "serve" answers twice, by how often it did.
PROGRAM = """#!/bin/sh
case $1 in
build) mkdir "${11}"; echo '%s' ;;
verify) echo '%s' ;;
serve) n=0; while read -r out && [ $n -lt 2 ]; do n=$((n + 1)); echo "{\\"n\\":$n}"; done; exit 3 ;;
*) echo '%s' ;;
esac
"""


class Stand:
    """The programs of a build folder, all of them one script."""

    def __init__(self, folder, **wrong):
        self.file = os.path.join(folder, "program")
        answer = json.dumps({**EXPECTED, **wrong})
        with open(self.file, "w", encoding="utf-8") as script:
            script.write(PROGRAM % (answer, answer, json.dumps(EXPECTED)))
        os.chmod(self.file, 0o755)

    def path(self, _):
        return self.file

    def stamp(self, _):
        return "stamp"


class Checks(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def bench(self, **wrong):
        bench = harness.Bench(Stand(self.folder, **wrong), "W1", "zstd1", harness.settings(),
                              self.folder)
        self.addCleanup(bench.close)
        return bench

    def test_inputs_as_expected_are_kept(self):
        engine = harness.engine("paimon-avro")
        bench = self.bench()
        bench.build_inputs(engine)
        self.assertTrue(os.path.isdir(bench.inputs(engine)))

    def test_inputs_with_another_hash_end_the_run(self):
        with self.assertRaisesRegex(harness.Failure, "in_fnv is x, expected a"):
            self.bench(in_fnv="x").build_inputs(harness.engine("paimon-avro"))

    def test_an_output_with_another_hash_ends_the_run(self):
        with self.assertRaisesRegex(harness.Failure, "out_fnv is x, expected b"):
            self.bench(out_fnv="x").compact(harness.engine("paimon-avro"))

    def test_one_process_serves_all_rounds_and_its_end_is_noticed(self):
        bench = self.bench()
        engine = harness.engine("paimon-avro")
        self.assertEqual([bench.compact(engine)["n"] for _ in range(2)], [1, 2])
        with self.assertRaisesRegex(harness.Failure, "ended with status 3"):
            bench.compact(engine)

    def test_without_java_all_peers_are_those_in_c(self):
        said = io.StringIO()
        with mock.patch("shutil.which", lambda tool: None), contextlib.redirect_stderr(said):
            peers = paimon.where_possible(harness.PEERS)
            with self.assertRaisesRegex(harness.Failure, "needs a JDK and Maven"):
                paimon.build(self.folder, ["paimon-avro"])
        self.assertEqual(peers, ["rocksdb64k", "rocksdb4k", "leveldb"])
        self.assertEqual(said.getvalue().count("note:"), 1)

    def test_with_java_all_peers_are_there(self):
        with mock.patch("shutil.which", lambda tool: "/bin/" + tool):
            self.assertEqual(paimon.where_possible(harness.PEERS), list(harness.PEERS))

    def test_avro_lacks_lz4_alone(self):
        self.assertFalse(harness.has_codec("paimon-avro", "lz4"))
        self.assertTrue(harness.has_codec("paimon-avro", "zstd3"))
        self.assertTrue(harness.has_codec("paimon-parquet", "lz4"))

    def test_report_and_chart_know_a_peer_in_java(self):
        rounds = {name: [{**COST, "out_fnv": "b", "cpu_s": cpu}] * 6
                  for name, cpu in (("sinter", 1.0), ("paimon-parquet", 25.0))}
        result = report.summary(self.bench(), mock.Mock(rounds=6), rounds)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            report.print_table(result)
        self.assertRegex(shown.getvalue(), r"paimon-parquet .* 25\.00 \(25\.00-25\.00\)")
        self.assertIn("times paimon-parquet", chart.chart([result], "paimon-parquet"))


if __name__ == "__main__":
    unittest.main()
