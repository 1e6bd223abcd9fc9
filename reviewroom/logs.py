"""One line per log record: text for a person at a terminal, JSON for machines."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

TEXT = "%(levelname)s %(name)s: %(message)s"
STANDARD = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
NOT_FOR_LOGS = {"request"}  # holds cookies and form data


class JsonFormatter(logging.Formatter):
    """The record as one JSON object, with what the caller passed in `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the message holds."""
        extra = {key: value for key, value in vars(record).items() if key not in STANDARD | NOT_FOR_LOGS}
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **extra,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def logging_settings(form: str) -> dict[str, Any]:
    """Django's `LOGGING`: everything from INFO up goes to standard error, in the form `text` or `json`."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": {"format": TEXT}, "json": {"()": "reviewroom.logs.JsonFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            # Django's own handlers print only while debugging, or send mail.
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        },
    }
