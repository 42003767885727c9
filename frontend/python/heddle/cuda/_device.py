"""Devices by number: cupy.cuda.Device."""

import functools
import operator
import threading

from heddle import _heddle

_cuda = _heddle._cuda
# The number that stands for the CPU.
CPU = -1


def name_of(number):
    """'cuda:1', or 'cpu' for -1."""
    return "cpu" if number == CPU else f"cuda:{number}"


def number_of(name):
    """The number in 'cuda:1'; -1 for 'cpu'."""
    kind, _, number = name.partition(":")
    return CPU if kind == "cpu" else int(number or 0)


def get_device_id():
    """The number of this thread's device; -1 for the CPU."""
    return number_of(_heddle.device())


class _Entered(threading.local):
    """The devices before the with statements that this thread is in."""

    def __init__(self):
        self.before = []


_entered = _Entered()


@functools.total_ordering
class Device:
    """A device: cupy.cuda.Device. `id` is a GPU's number, another Device, or None for this thread's
    device. That is the CPU where Heddle runs on it, with the number -1.

    In a with statement, and after use(), this thread's arrays are made on the device. A change of
    device first evaluates what the thread has recorded.

    Raises DeviceError if there is no such GPU.

    >>> with hd.cuda.Device() as device:
    ...     device.synchronize()
    """

    def __init__(self, id=None):
        if id is None:
            self.id = get_device_id()
            return
        self.id = operator.index(id)
        if self.id < CPU:
            raise ValueError(f"Device: the number of a GPU must not be negative, but is {self.id}")
        if self.id >= _cuda.device_count():
            try:
                _cuda.properties(name_of(self.id))
            except _heddle.DeviceError as error:
                raise _heddle.DeviceError(
                    f"Device({self.id}): there is no such GPU. hd.cuda.is_available() tells whether "
                    "there is one; Device() is the device that programs run on, a GPU or the CPU: "
                    f"{error}") from None

    @staticmethod
    def from_pci_bus_id(pci_bus_id):
        """The device at a PCI bus id such as '0000:3B:00.0'. Raises DeviceError if there is none."""
        return Device(number_of(_cuda.device_at(pci_bus_id)))

    @staticmethod
    def from_pointer(ptr):
        """The device of an address: cupy.cuda.Device.from_pointer. Without a GPU it is the CPU. Raises
        ValueError for an address that no GPU knows."""
        address = operator.index(ptr)
        if not _cuda.device_count():
            return Device(CPU)
        found = _cuda.device_of_pointer(address)
        if found is None:
            raise ValueError(f"from_pointer: 0x{address:x} is no address of a GPU's memory")
        return Device(number_of(found))

    def use(self):
        """Makes this the current device of the thread. Returns self."""
        _cuda.use_device(name_of(self.id))
        return self

    def __enter__(self):
        before = get_device_id()
        self.use()
        _entered.before.append(before)
        return self

    def __exit__(self, *_):
        _cuda.leave_device(name_of(_entered.before.pop()))

    def synchronize(self):
        """Waits for all work on the device. Raises the errors of that work."""
        _cuda.synchronize(name_of(self.id))

    @property
    def attributes(self):
        """The device's attributes: a dict by CUDA's names, such as 'MultiProcessorCount'. Empty for
        the CPU."""
        return _cuda.properties(name_of(self.id))["attributes"]

    @property
    def compute_capability(self):
        """'90' for compute capability 9.0; '' for the CPU."""
        return _cuda.properties(name_of(self.id))["compute_capability"]

    @property
    def pci_bus_id(self):
        """The PCI bus id, such as '0000:3B:00.0'; '' for the CPU."""
        return _cuda.properties(name_of(self.id))["pci_bus_id"]

    @property
    def mem_info(self):
        """Bytes of memory: (free, total)."""
        return _cuda.memory(name_of(self.id))

    def can_access_peer(self, peer):
        """Whether kernels of this GPU can use the memory of another one, a Device or a number."""
        return _cuda.can_access_peer(name_of(self.id), name_of(Device(peer).id))

    def enable_peer_access(self, peer):
        """Lets kernels and copies of this GPU use the memory of another one, a Device or a number.
        Returns False if they cannot. Copies between GPUs do this themselves."""
        return _cuda.enable_peer_access(name_of(self.id), name_of(Device(peer).id))

    def disable_peer_access(self, peer):
        """Undoes enable_peer_access. No work that uses the access may be pending."""
        _cuda.disable_peer_access(name_of(self.id), name_of(Device(peer).id))

    def __int__(self):
        return self.id

    __index__ = __int__

    def __eq__(self, other):
        return self.id == other.id if isinstance(other, Device) else NotImplemented

    def __lt__(self, other):
        return self.id < other.id if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return "<CPU Device>" if self.id == CPU else f"<CUDA Device {self.id}>"
