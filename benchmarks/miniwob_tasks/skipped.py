"""The tasks without a planner, by what keeps them from one that sees nothing but zones."""

SKIPPED: dict[str, tuple[str, ...]] = {
    "told apart by colour or shape, which zones do not have": (
        "click-color",
        "click-shades",
        "click-shape",
        "count-shape",
        "count-sides",
        "identify-shape",
        "tic-tac-toe",
        "use-colorwheel",
        "use-colorwheel-2",
        "visual-addition",
    ),
    "an icon in the utterance, which is no text": ("click-menu-2",),
    "a place on a canvas, not a thing on it": (
        "bisect-angle",
        "circle-center",
        "draw-circle",
        "draw-line",
        "find-midpoint",
        "hot-cold",
        "right-angle",
    ),
    "dragged into a part of a drawing that is no thing of its own": ("drag-cube", "drag-shapes", "drag-shapes-2"),
    "a grid that makes room beside the place that something is dragged to": ("drag-items-grid",),
    "dragged over a range of unnamed cells": ("daily-calendar",),
    "moves or blinks faster than one can look and act": (
        "chase-circle",
        "hover-shape",
        "moving-items",
        "simon-says",
        "stock-market",
    ),
    "paid for keeping to the second": ("button-delay",),
    "a part of a text has to be marked": ("text-editor",),
    "needs to know the language: synonyms, or sentences that people wrote freely": (
        "click-checkboxes-soft",
        "email-inbox-forward-nl-turk",
        "email-inbox-nl-turk",
    ),
}
