"""How processes learn the number of their group: process 0 gives it to those that connect to it by TCP.

A process says that it is one of Heddle's, how many processes it expects, and its rank. When all have come,
process 0 answers each with the number; if two of them disagree, with the reason, and all of them raise it.
"""

import socket
import struct
import time

from heddle import _heddle

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 13333

_GREETING = struct.Struct("!8sII")
_ANSWER = struct.Struct("!8sII")  # what it is, whether it is the number, its length
_MAGIC = b"heddle-1"


def _receive(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return data


def _left(deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def share(number, size, rank, host, port, timeout):
    """The number of process 0, in all processes. Raises CommunicationError if it cannot be had."""
    deadline = time.monotonic() + timeout
    try:
        if rank == 0:
            _serve(number, size, host, port, deadline)
            return number
        return _ask(size, rank, host, port, deadline)
    except (OSError, TimeoutError) as error:
        reason = str(error) or "not all processes have come"
        raise _heddle.CommunicationError(
            f"init_process_group: rank {rank} of {size}, {host}:{port}, within {timeout} s: {reason}; "
            "all processes need the same host and port, on which process 0 listens") from error


def _serve(number, size, host, port, deadline):
    members = {}
    with socket.create_server((host, port), backlog=size) as server:
        try:
            while len(members) < size - 1:
                server.settimeout(_left(deadline))
                connection, _ = server.accept()
                refusal = _greet(connection, size, members, deadline)
                if refusal:
                    for each in [connection, *members.values()]:
                        _answer(each, False, refusal.encode())
                    connection.close()
                    raise _heddle.CommunicationError(refusal)
            for each in members.values():
                _answer(each, True, number)
        finally:
            for each in members.values():
                each.close()


def _greet(connection, size, members, deadline):
    """Adds a member. Returns why it does not fit, if so; ignores what is not a process of ours."""
    connection.settimeout(min(5.0, _left(deadline)))
    try:
        magic, wanted, rank = _GREETING.unpack(_receive(connection, _GREETING.size))
    except OSError:
        magic = None
    if magic != _MAGIC:
        connection.close()
        return None
    if wanted != size:
        return (f"init_process_group: rank {rank} was started for {wanted} processes, "
                f"but rank 0 for {size}")
    if rank in members or not 0 < rank < size:
        return f"init_process_group: two processes have rank {rank}"
    members[rank] = connection
    return None


def _answer(connection, good, data):
    try:
        connection.sendall(_ANSWER.pack(_MAGIC, good, len(data)) + data)
    except OSError:
        pass  # the others shall hear all the same


def _ask(size, rank, host, port, deadline):
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=_left(deadline))
            break
        except ConnectionRefusedError:  # process 0 does not listen yet
            time.sleep(min(0.05, _left(deadline)))
    with connection:
        connection.sendall(_GREETING.pack(_MAGIC, size, rank))
        connection.settimeout(_left(deadline))
        magic, good, length = _ANSWER.unpack(_receive(connection, _ANSWER.size))
        if magic != _MAGIC or length > 1024:
            raise ConnectionError("another program listens there")
        data = _receive(connection, length)
    if not good:
        raise _heddle.CommunicationError(data.decode())
    return data
