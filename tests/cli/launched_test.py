"""If a build without MPI runs under a launcher of several processes, the first of them reports an error for a sweep."""
import os
import shutil
import unittest

from support import ProgramTest, run

LAUNCHERS = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
             ("PMIX_RANK", "SLURM_STEP_NUM_TASKS")]


class Launched(ProgramTest):
    def test_a_sweep_of_several_processes_is_refused(self):
        words = ["sweep", self.write("a.csv", "1,2\n3,4\n"), "--eps", 1, "--minpts", 2, "--out", self.out]
        clean = {k: v for k, v in os.environ.items() if k not in sum(LAUNCHERS, ())}
        for rank, size in LAUNCHERS:
            with self.subTest(rank):
                self.fails(2, ["2 processes", "EPSFLOW_WITH_MPI=ON"], *words, env={**clean, rank: "0", size: "2"})
                p = run(*words, env={**clean, rank: "1", size: "2"})
                self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))
                self.assertFalse(self.out.exists())
                # Each process runs other commands alone, and a single process runs as without a launcher.
                self.succeeds("--version", env={**clean, rank: "1", size: "2"})
                self.succeeds(*words, "--overwrite", env={**clean, rank: "0", size: "1"})
                shutil.rmtree(self.out)


if __name__ == "__main__":
    unittest.main()
