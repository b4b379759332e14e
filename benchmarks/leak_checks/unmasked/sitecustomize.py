"""The control: in every process that has this folder on its path, nothing is masked and nothing is covered."""

from midcourse.redact import Redactor

Redactor.__call__ = lambda self, text: text
Redactor.places = lambda self, text: iter(())
