"""Views at run time: one query keeps what a view yields, and others read it. See docs/design/views.md."""
