"""Tags of the component templates: icons, times, and texts whose invisible characters must be seen."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from approvals.domain import visible as hidden
from approvals.web import words
from approvals.web.cards.payload import step_name
from approvals.web.diff import Piece

register = template.Library()


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """Gives one shape of the sprite; decoration, its word stands beside it."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>', size, static("icons.svg"), name
    )


@register.simple_tag
def visible(text: object) -> SafeString:
    """Gives a text escaped, with a labelled marker in the place of everything that cannot be seen."""
    return mark_safe("".join(_run(run) for run in hidden.runs(str(text))))  # noqa: S308  each run is escaped


@register.simple_tag
def pieces(parts: Iterable[Piece]) -> SafeString:
    """Gives a difference: `<ins>`, `<del>` and what stayed, ghosts marked in all three."""
    return mark_safe("".join(_piece(part) for part in parts))  # noqa: S308  each piece is escaped


@register.simple_tag
def field_name(steps: Iterable[str | int]) -> SafeString:
    """Gives the way to a field, step by step; keys may hide characters as well as values."""
    dot = mark_safe('<span class="payload-step"> › </span>')
    return format_html_join(dot, "{}", ((visible(step_name(step)),) for step in steps))


@register.simple_tag
def split_digest(digest: str) -> SafeString:
    """Gives the whole digest with the parts of the short one in bold; selecting it takes all of it."""
    name = digest.removeprefix("sha256:")
    return format_html("<b>{}</b><span>{}</span><b>{}</b>", name[:4], name[4:-2], name[-2:])


@register.simple_tag
def clock(at: datetime | None, style: str = "") -> SafeString | str:
    """Gives a time element in UTC. Styles: empty (minutes), `seconds`, `day` (a whole phrase)."""
    if at is None:
        return ""
    now = timezone.now()
    shown = words.moment(at, now, seconds=style == "seconds")
    if style == "day":
        shown = f"{shown} UTC{' today' if at.date() == now.date() else ''}"
    return format_html('<time datetime="{}">{}</time>', at.isoformat(timespec="seconds"), shown)


@register.filter
def state_label(state: str) -> str:
    """Gives the word of a state."""
    return words.STATE_LABELS.get(state, state)


def _piece(piece: Piece) -> SafeString:
    inner = format_html_join("", "{}", ((_run(run, marks_lines=piece.tag != ""),) for run in piece.runs))
    return format_html("<{0}>{1}</{0}>", piece.tag, inner) if piece.tag else inner


def _run(run: hidden.Run, *, marks_lines: bool = False) -> SafeString:
    if run.ghost is not None:
        inner = _ghost(run.ghost, run.count)
    elif marks_lines and "\n" in run.text:
        inner = format_html_join(
            mark_safe('<span class="escape">\\n</span>\n'), "{}", ((line,) for line in run.text.split("\n"))
        )
    else:
        inner = format_html("{}", run.text)
    return format_html('<span class="override">{}</span>', inner) if run.in_override else inner


def _ghost(ghost: hidden.Ghost, count: int) -> SafeString:
    times = f" ×{count:,}" if count > 1 else ""
    return format_html(
        '<span class="ghost"><span aria-hidden="true">{0}{2}</span>'
        '<span class="unseen">hidden character: {1}{2}</span></span>',
        ghost.label,
        ghost.name.lower(),
        times,
    )
