"""Conformance suites, one a port: what every adapter must do, as tests to subclass. They need pytest and nothing else.

To see the compared values when an assertion fails, put `pytest.register_assert_rewrite("midcourse.testing")` into your
`conftest.py`.
"""
