"""Plans that the engine computes: what it is asked to do, and in which buckets."""
