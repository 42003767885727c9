"""Streams and events, as cupy.cuda.stream has them."""

from heddle.cuda._event import Event, get_elapsed_time
from heddle.cuda._stream import ExternalStream, Stream, get_current_stream

__all__ = ["Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time"]
