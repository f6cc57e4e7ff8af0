// All tests use the precompiled header of this file.
