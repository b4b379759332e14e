"""The settings as Markdown tables, for `docs/settings.md`."""

from midcourse.config.recovery import PRESETS
from midcourse.config.settings import Settings, format_value
from midcourse.config.variables import Audience, VariableSettings, names_for, variables_of


def reference(kind: type[VariableSettings] = Settings, *audiences: Audience) -> str:
    """The settings for these audiences, or all of them, as a Markdown table."""
    rows = ["| setting | default | environment variable | what it changes |", "|---|---|---|---|"]
    for name in names_for(kind, *(audiences or Audience)):
        field = kind.model_fields[name]
        what = (field.description or "").replace("|", "\\|")
        default = f"`{text}`" if (text := format_value(field.default)) else "not set"
        variables = " or ".join(f"`{variable}`" for variable in variables_of(name, Settings).split(" or "))
        rows.append(f"| `{name}` | {default} | {variables} | {what} |")
    return "\n".join(rows) + "\n"


def presets() -> str:
    """What each value of `recovery` stands for, as a Markdown table of the settings in which they differ."""
    rows = [f"| setting | {' | '.join(f'`{preset}`' for preset in PRESETS)} |", "|---" * (len(PRESETS) + 1) + "|"]
    for name in PRESETS["default"]:
        values = [f"`{format_value(values[name])}`" for values in PRESETS.values()]
        if len(set(values)) > 1:
            rows.append(f"| `{name}` | {' | '.join(values)} |")
    return "\n".join(rows) + "\n"


def preset_names() -> str:
    """The settings that `recovery` gives values to, in words."""
    *names, last = (f"`{name}`" for name in PRESETS["default"])
    return f"{', '.join(names)} and {last}"
