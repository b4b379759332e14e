"""Midcourse as an MCP server: hosts such as Claude Code or Cursor start and watch runs, and read their questions."""
