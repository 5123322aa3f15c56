"""The estimators of the papers and of the industry, and the record store of WIN."""
