"""Midcourse as an MCP server: with it, hosts such as Claude Code or Cursor start and watch runs, and read their questions."""
