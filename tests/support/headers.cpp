// Its precompiled header is that of all tests.
