"""Triton's perf_analyzer measures the server: its figures are sane, and it met no error."""
import csv
import os
import re
import subprocess
import tempfile
import unittest

from served_test_case import ServedTestCase

REQUESTS = 200


class PerfAnalyzer(ServedTestCase):
    FLAGS = ("--shared-memory-prefix", "/")  # it names its objects after the tensors

    def measure(self, *arguments, model="thresholded_relu_fp32", shape="X:1024"):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.csv")
            # Windows end by count, and figures that move, as they do beside other tests, are no failure. Not by
            # --request-count: where that many requests end before the window begins, perf_analyzer waits for ever.
            run = subprocess.run(
                [os.environ["PERF_ANALYZER"], "-i", "grpc", "-u", self.server.address, "-m", model, "--shape", shape,
                 "--concurrency-range", "2", "--measurement-mode", "count_windows", "--measurement-request-count",
                 str(REQUESTS), "--stability-percentage", "10000", "-f", report, *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertEqual(run.returncode, 0, run.stdout)
            with open(report, encoding="utf-8") as file:
                (row,) = csv.DictReader(file)
        self.assertNotRegex(run.stdout, re.compile("error|fail|warning", re.I))
        self.assertGreater(float(row["Inferences/Second"]), 0, run.stdout)
        for percentile in ("p50 latency", "p99 latency"):
            self.assertGreater(float(row[percentile]), 0, run.stdout)
        self.assertLess(float(row["p50 latency"]), 10e6, run.stdout)  # microseconds
        # The server's own part of the story comes from its statistics.
        self.assertIn("Server Compute Infer", row, run.stdout)  # whole microseconds, mostly 0
        self.assertRegex(run.stdout, r"Inference count: [1-9]")

    def inferences(self, model="thresholded_relu_fp32"):
        return self.client.get_inference_statistics(model).model_stats[0].inference_count

    def test_calls(self):
        before = self.inferences()
        self.measure()
        self.assertGreaterEqual(self.inferences() - before, REQUESTS)

    def test_asynchronous_calls(self):
        self.measure("--async")

    def test_stream(self):
        before = self.inferences()
        self.measure("--streaming")
        self.assertGreaterEqual(self.inferences() - before, REQUESTS)

    def test_shared_memory(self):
        before = self.inferences()
        self.measure("--shared-memory", "system", "--output-shared-memory-size", "4096")
        self.assertGreaterEqual(self.inferences() - before, REQUESTS)
        self.assertEqual(len(self.client.get_system_shared_memory_status().regions), 0)

    def test_shared_memory_stream(self):
        self.measure("--shared-memory", "system", "--output-shared-memory-size", "4096", "--streaming")

    def test_every_type_and_rank(self):
        for model in ("thresholded_relu", "thresholded_relu_fp16", "thresholded_relu_bf16", "thresholded_relu_fp64"):
            with self.subTest(model):
                self.measure(model=model, shape="X:2,3,5")


if __name__ == "__main__":
    unittest.main()
