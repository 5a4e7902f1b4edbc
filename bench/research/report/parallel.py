# SPDX-License-Identifier: GPL-2.0-only
"""What libtcptuned predicts of parallel connections: include/tcptuned/streams.h, as it was built.

parallel.py N:RATE,N:RATE[,...] N...    fits equation (7) to the measured levels, and prints the
                                        throughput that it predicts for each of the other N
"""
import ctypes
import functools
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
PARTIAL, FULL, LINEAR, BEST = range(4)  # enum tcptuned_streams_model


class Level(ctypes.Structure):
    """struct tcptuned_streams_level"""
    _fields_ = [("streams", ctypes.c_uint), ("rate", ctypes.c_double),
                ("others", ctypes.c_double * 15)]  # integers among them are as long


class Fit(ctypes.Structure):
    """struct tcptuned_streams_fit"""
    _fields_ = [*((name, ctypes.c_double) for name in ("a", "b", "c", "residual")),
                *((name, ctypes.c_uint) for name in ("streams_min", "streams_max", "levels"))]

    def rate(self, streams: int) -> float:
        """Returns the throughput of so many connections together."""
        return library().tcptuned_streams_rate(ctypes.byref(self), streams)

    def impact(self, streams: int) -> float:
        """Returns by which part the others' throughput falls, compared with one connection."""
        return library().tcptuned_streams_impact(ctypes.byref(self), 1, streams)


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    build = TOP / os.environ.get("BUILD", "build")
    loaded = ctypes.CDLL(str(build / "libtcptuned.so.0"))
    loaded.tcptuned_streams_rate.restype = ctypes.c_double
    loaded.tcptuned_streams_impact.restype = ctypes.c_double
    return loaded


def fit(rates: dict[int, float], model: int = PARTIAL) -> Fit:
    """Fits a model to rates by the number of connections."""
    result = Fit()
    levels = (Level * len(rates))(*rates.items())
    error = library().tcptuned_streams_fit(model, levels, ctypes.c_size_t(len(rates)),
                                            ctypes.byref(result))
    if error:
        raise OSError(-error, os.strerror(-error))
    return result


if __name__ == "__main__":
    pairs = (level.split(":") for level in sys.argv[1].split(","))
    predicted = fit({int(streams): float(rate) for streams, rate in pairs})
    for wanted in sys.argv[2:]:
        print(f"{predicted.rate(int(wanted)):.5g}")
