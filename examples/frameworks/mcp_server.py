"""An MCP server as a world: a model commits with git's server, and you are asked before it does."""

import subprocess

from midcourse import Agent, TerminalApprover
from midcourse.worlds import Mcp

subprocess.run("git init -q . && echo hello > note && git add note", shell=True, check=True)
world = Mcp("mcp-server-git --repository .")
agent = Agent(world, model="openai:gpt-5", approver=TerminalApprover())
print(agent.run_sync("Commit what is staged in '.', as 'Add a note'").final_reason)
