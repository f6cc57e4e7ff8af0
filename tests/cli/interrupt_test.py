"""Interrupts a 200-variant sweep at random times: finished results are valid, and --resume completes the rest."""
import random
import signal
import subprocess
import time
import unittest

from results_test import counts, labels
from support import ProgramTest, manifest, printed_seed, start

MINPTS = "2,3,4,6,8,12,16,24,32,64"


class Interrupt(ProgramTest):
    def test_a_sweep_that_is_interrupted_again_and_again_ends_with_the_same_labels(self):
        rng = random.Random(printed_seed())
        points = self.generated("tec", 60_000)
        sweep = ["sweep", points, "--columns", "0,1", "--eps", "0.02:0.4:0.02", "--minpts", MINPTS]
        whole, parts = self.folder / "whole", self.folder / "parts"
        begin = time.monotonic()
        self.succeeds(*sweep, "--out", whole)
        duration = time.monotonic() - begin
        expected = labels(whole)

        interrupted = 0
        while True:
            mode = ["--resume"] if (parts / "sweep.json").exists() else []
            p = start(*sweep, "--out", parts, *mode)
            # After at most twelve interruptions, the sweep runs to its end.
            if interrupted < 12:
                try:
                    p.wait(rng.uniform(0, duration / 3))
                except subprocess.TimeoutExpired:
                    p.send_signal(signal.SIGINT)
                    _, errors = p.communicate(timeout=30)  # takes a second if the machine is not busy
                    interrupted += 1
                    if p.returncode == -signal.SIGINT:
                        continue  # before the sweep began
                    if not (parts / "sweep.json").exists():
                        self.assertEqual(p.returncode, 130)
                        self.assertIn("interrupted before any variant was finished; nothing was written", errors)
                        continue
                    if p.returncode == 130:
                        self.assertIn("--resume goes on", errors)
                        self.assertEqual(manifest(parts)["status"], "interrupted")
                    self.assertLessEqual(labels(parts).items(), expected.items())
                    continue
            _, errors = p.communicate(timeout=120)
            self.assertEqual(p.returncode, 0, errors)
            break
        self.assertGreater(interrupted, 0)
        self.assertEqual((len(expected), labels(parts)), (200, expected))
        self.assertEqual(counts(parts), counts(whole))
        self.assertEqual([p for p in parts.rglob("*") if ".part-" in p.name], [])

    def test_a_terminal_that_goes_interrupts_as_well_unless_that_is_ignored(self):
        points = self.generated("tec", 60_000)
        for before, code, status in ((signal.SIG_DFL, 130, "interrupted"), (signal.SIG_IGN, 0, "complete")):
            out = self.folder / status
            p = start("sweep", points, "--columns", "0,1", "--eps", "0.01:0.4:0.01", "--minpts", MINPTS, "--out", out,
                      preexec_fn=lambda before=before: signal.signal(signal.SIGHUP, before))
            while p.poll() is None and not list(out.glob("labels/*")) and not list(out.glob(".epsflow/partial/*")):
                time.sleep(0.01)
            p.send_signal(signal.SIGHUP)
            _, errors = p.communicate(timeout=120)
            self.assertEqual(p.returncode, code, errors)
            self.assertEqual(manifest(out)["status"], status)


if __name__ == "__main__":
    unittest.main()
