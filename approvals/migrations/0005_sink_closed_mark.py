"""Moves the mark of a sink that takes nothing from the beginning of `last_error` to the sink's own row."""

from typing import Any

from django.db import migrations

MARK = 'The sink takes nothing from us. '


def to_row(apps: Any, schema_editor: Any) -> None:
    events = apps.get_model('approvals', 'OutboxEvent').objects.filter(drained_at=None, last_error__startswith=MARK)
    first = events.order_by('next_attempt_at').first()
    if first is None:
        return
    apps.get_model('approvals', 'SinkState').objects.update_or_create(
        id=1,
        defaults={
            'closed_at': first.created_at,
            'closed_reason': first.last_error.removeprefix(MARK),
            'probe_at': first.next_attempt_at,
        },
    )
    for event in events.iterator():
        event.last_error = event.last_error.removeprefix(MARK)
        event.save(update_fields=['last_error'])


def to_marks(apps: Any, schema_editor: Any) -> None:
    state = apps.get_model('approvals', 'SinkState').objects.filter(closed_at__isnull=False).first()
    if state is None:
        return
    events = apps.get_model('approvals', 'OutboxEvent').objects
    first = events.filter(drained_at=None).order_by('id').first()
    if first is not None:
        first.last_error = (MARK + state.closed_reason)[:500]
        first.next_attempt_at = state.probe_at
        first.save(update_fields=['last_error', 'next_attempt_at'])


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0004_sink_state'),
    ]

    operations = [
        migrations.RunPython(to_row, to_marks),
    ]
