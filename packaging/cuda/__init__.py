"""epsflow's compiled module with CUDA. Nothing to import by hand: epsflow finds it."""
