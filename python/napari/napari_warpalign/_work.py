"""One computation at a time in a thread, with progress and a button that cancels it."""

import threading

from magicgui.widgets import Container, Label, ProgressBar, PushButton
from napari.qt.threading import create_worker
from napari.utils.notifications import show_error
from qtpy.QtCore import QObject, Signal


class _Steps(QObject):
    """Brings the progress from the thread to the window's."""

    done = Signal(int)


def _outcome(function, progress, cancelled):
    """What a function returns, and None; or None and the exception that ended it."""
    try:
        return function(progress=progress, cancelled=cancelled), None
    except Exception as error:  # the window shows it
        return None, error


class Work(Container):
    """The buttons of a widget and its progress.

    `begin`: called for the work when the user starts it. It returns a function, which runs in a
    thread with the keywords `progress` and `cancelled`, the number of its steps (0 if unknown), and
    a function that takes its result.
    """

    def __init__(self, text, begin):
        self.run_button = PushButton(text=text)
        self.cancel_button = PushButton(text="Cancel", enabled=False)
        self.progress = ProgressBar(min=0, max=1, value=0, visible=False)
        self.state = Label(value="")
        super().__init__(widgets=[self.run_button, self.cancel_button, self.progress, self.state],
                         labels=False)
        self.margins = (0, 0, 0, 0)
        self._begin = begin
        self._worker = None
        self._cancelled = threading.Event()
        self._steps = _Steps()
        self._steps.done.connect(self._show_progress)
        self.run_button.changed.connect(self.start)
        self.cancel_button.changed.connect(self.cancel)

    @property
    def running(self):
        """Whether the work is running."""
        return self._worker is not None

    def start(self):
        """Start the work, unless it is running."""
        if self.running:
            return
        try:
            function, steps, take = self._begin()
        except ValueError as error:
            self.state.value = str(error)
            return
        cancelled = self._cancelled = threading.Event()
        worker = create_worker(_outcome, function, self._steps.done.emit, cancelled.is_set)
        worker.returned.connect(lambda outcome: self._finish(worker, take, *outcome))
        self._worker = worker
        self.run_button.enabled, self.cancel_button.enabled = False, True
        self.progress.visible = True
        self.progress.max, self.progress.value = steps, 0  # 0 steps: a bar that only moves
        self.state.value = "running"
        worker.start()

    def cancel(self):
        """Cancel the work. What cannot be stopped ends later, and its result is dropped."""
        if not self.running:
            return
        self._cancelled.set()
        self._end("cancelled")

    def _show_progress(self, number):
        if self.running and self.progress.max:
            self.progress.value = min(number, self.progress.max)

    def _finish(self, worker, take, result, error):
        if worker is not self._worker:  # cancelled
            return
        if error is None:
            self._end("")
            self.state.value = take(result)
            return
        self._end(f"failed: {error}")
        if not isinstance(error, ValueError):
            show_error(str(error))

    def _end(self, text):
        self._worker = None
        self.run_button.enabled, self.cancel_button.enabled = True, False
        self.progress.visible = False
        self.state.value = text
