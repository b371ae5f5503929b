"""A task that does nothing, on a queue of its own: what the broker and Celery cost by themselves.

Promises: the product's own Celery settings (late acknowledgement, no prefetch, threads); no worker
of the product knows the task. Run as `celery -A razviel.bench.worker worker --queues bench`.
Does not know the product's tasks' work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kombu import Exchange, Queue

from razviel.celery import app

QUEUE = Queue("bench", Exchange("bench"), routing_key="bench")
app.amqp.queues.add(QUEUE)


@app.task(name="bench.noop")
def noop() -> None:
    """Do nothing."""


def publish(count: int) -> None:
    """Put no-ops on the queue, over one connection."""
    with app.connection_for_write() as connection, connection.Producer() as producer:
        for _ in range(count):
            noop.apply_async(queue=QUEUE, producer=producer)


def purge() -> None:
    """Empty the queue: an earlier run may have been killed."""
    with app.connection_for_write() as connection:
        QUEUE(connection.default_channel).declare()
        QUEUE(connection.default_channel).purge()


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Give a function that counts what no worker has taken yet, over one connection."""
    with app.connection_for_read() as connection:
        channel = connection.default_channel

        def count() -> int:
            try:
                declared = channel.queue_declare(QUEUE.name, passive=True)  # type: ignore[attr-defined]  # every channel has it, kombu's base class alone hasn't
                return int(declared.message_count)
            except connection.channel_errors:  # on Redis a queue that is empty doesn't exist
                return 0

        yield count
