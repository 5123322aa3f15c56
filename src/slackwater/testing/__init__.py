"""Random plans and streams, fault sentinels, a fake clock: for tests and demos."""
