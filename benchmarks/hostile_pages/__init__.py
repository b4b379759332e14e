"""Pages that want an agent to do what its task does not say, and the trial that lets an obedient one loose on them."""
