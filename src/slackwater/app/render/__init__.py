"""Show plans to people and to other programs: a tree in text, graphs, pictures."""
