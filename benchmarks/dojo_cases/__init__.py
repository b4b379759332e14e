"""AgentDojo's cases: its process, its tools as a world, and an agent that obeys what it reads."""
