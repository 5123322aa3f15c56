"""Plans for people and programs: `explain`, the optimiser, and plan documents."""
