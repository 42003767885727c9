"""Devices, as cupy.cuda.device has them."""

from heddle import _heddle
from heddle.cuda._device import Device, get_device_id


def get_compute_capability():
    """'90' if this thread's device has compute capability 9.0; '' for the CPU."""
    return Device().compute_capability


def from_pci_bus_id(pci_bus_id):
    """The device at a PCI bus id such as '0000:3B:00.0'. Raises DeviceError if there is none."""
    return Device.from_pci_bus_id(pci_bus_id)


CUDARuntimeError = _heddle.DeviceError

__all__ = ["CUDARuntimeError", "Device", "from_pci_bus_id", "get_compute_capability", "get_device_id"]
