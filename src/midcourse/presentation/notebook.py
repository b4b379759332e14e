"""Shows results, plans and their differences in notebooks: as HTML without scripts, in which every value is escaped.

The classes are in `domain`, which has nothing to do with presentation, so this module adds `_repr_html_` to them.
"""

from html import escape
from typing import TYPE_CHECKING

from midcourse.domain.plan import PlanVersion
from midcourse.domain.result import Result
from midcourse.history.replay import PlanComparison

if TYPE_CHECKING:
    from midcourse.presentation.page.markup import Markup

STYLE = """\
.midcourse .soft{opacity:.7}.midcourse .tag{border:1px solid;border-radius:.3em;padding:0 .3em;font-size:.85em}
.midcourse ol,.midcourse ul{margin:.3em 0}.midcourse .diff{list-style:none;padding-left:0}.midcourse .sign{display:inline-block;width:1.2em}
.midcourse .says{margin-right:.5em}.midcourse .dropped{text-decoration:line-through}.midcourse table{margin:.3em 0}.midcourse td{text-align:left}"""


def show_in_notebooks() -> None:
    """Add `_repr_html_` to the classes that a program gets from an agent."""
    for kind, render in ((Result, result_html), (PlanVersion, plan_html), (PlanComparison, comparison_html)):
        setattr(kind, "_repr_html_", render)  # noqa: B010


def result_html(result: Result) -> str:
    """A result as HTML: whether the run succeeded, what it returned, its irreversible acts, and what it cost."""
    from midcourse.presentation.page.markup import element, text
    from midcourse.presentation.result import describe_counts, describe_values, headline

    def row(name: str, value: str) -> "Markup":
        return element("tr", element("th", text(name)), element("td", text(value)))

    lasting = [step for step in result.completed if step.irreversible]
    doubt = " (it may have happened; nothing shows it)"
    return _frame(
        element("strong", text(headline(result))),
        element("p", text(result.goal), element("br"), element("span", text(describe_counts(result)), class_="soft")),
        element("pre", text(result.answer)) if result.answer else None,
        element("table", *(row(name, line) for name, line in describe_values(result))) if result.data else None,
        element("p", text(result.final_detail)) if result.final_detail else None,
        element("p", "Done, and cannot be undone:") if lasting else None,
        element(
            "ul", *(element("li", text(step.says or step.skill), doubt if step.doubtful else None) for step in lasting)
        ),
        element("p", text(f"run {result.run}"), class_="soft"),
    )


def plan_html(plan: PlanVersion) -> str:
    """A plan version as HTML: why it was made, and its steps."""
    from midcourse.presentation.page.markup import element, text
    from midcourse.presentation.page.sections import render_step
    from midcourse.presentation.vocabulary import plan_reason

    return _frame(
        element("strong", f"Plan {plan.version}"),
        element("span", " ", text(plan_reason(plan)), class_="soft"),
        element("ol", *(render_step(step, 0) for step in plan.steps)),
    )


def comparison_html(compared: PlanComparison) -> str:
    """The difference between two plan versions as HTML."""
    from midcourse.presentation.page.markup import element, text
    from midcourse.presentation.page.sections import render_difference_items
    from midcourse.presentation.vocabulary import plan_reason

    return _frame(
        element("strong", f"Plan {compared.after.version} compared with plan {compared.before.version}"),
        element("span", " ", text(plan_reason(compared.after)), class_="soft"),
        element("ul", *render_difference_items(compared.found), class_="diff"),
    )


def _frame(*parts: "Markup | None") -> str:
    return f'<div class="midcourse"><style>{escape(STYLE)}</style>{"".join(part for part in parts if part)}</div>'
