"""Plans for people and for other programs: a tree in text, graphs, pictures."""
