"""Views at run time: one query writes the rows of a view to a log, and others read it. See docs/design/views.md."""
