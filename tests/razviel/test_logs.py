"""A log line is one JSON object with a constant event name."""

from __future__ import annotations

import io
import json
import logging
import logging.config

import structlog

from razviel.logs import logging_configuration


def lines_of(logger: logging.Logger) -> io.StringIO:
    configuration = logging_configuration(level="INFO")
    formatters = configuration["formatters"]
    assert isinstance(formatters, dict)
    formatter = dict(formatters["json"])
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter.pop("()")(**formatter))
    logger.handlers = [handler]
    logger.propagate = False
    return stream


def test_an_event_carries_its_fields() -> None:
    stream = lines_of(logging.getLogger("tests.events"))
    structlog.get_logger("tests.events").info("intent.claimed", intent="an id")
    line = json.loads(stream.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "intent.claimed",
        "intent": "an id",
        "level": "info",
        "logger": "tests.events",
    }


def test_a_librarys_line_takes_the_same_form() -> None:
    logger = logging.getLogger("tests.library")
    stream = lines_of(logger)
    logger.warning("connection %s lost", 7)
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("connection 7 lost", "warning")
