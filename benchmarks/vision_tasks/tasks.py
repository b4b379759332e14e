"""The tasks, frozen by their digest before the first run: those whose rules only click and type, of every kind of control."""

from hashlib import sha256

TASKS = (
    "click-button",
    "click-button-sequence",
    "click-checkboxes",
    "click-collapsible",
    "click-dialog",
    "click-dialog-2",
    "click-link",
    "click-option",
    "click-tab",
    "click-test",
    "click-test-2",
    "enter-password",
    "enter-text",
    "enter-text-2",
    "focus-text",
    "focus-text-2",
    "generate-number",
    "login-user",
    "simple-algebra",
    "simple-arithmetic",
)
FROZEN = "5502387f42fba02ec68b720696347b36b3d72e97c4f167128afaf5e464503ed5"


def digest() -> str:
    return sha256("\n".join(TASKS).encode()).hexdigest()


def check_frozen() -> None:
    """Raises if the tasks are not those that were chosen before the first run."""
    assert digest() == FROZEN, "the tasks were changed after they were frozen"
