"""PostgreSQL: rows that are added to a table, and changelogs that keep one up to date."""
