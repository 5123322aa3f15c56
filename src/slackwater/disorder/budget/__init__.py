"""The default estimator for DRATIO: it keeps a stated share of late rows with a short hold."""
