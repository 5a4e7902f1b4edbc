# SPDX-License-Identifier: GPL-2.0-only
"""Equations of paper 003: average window in packets (sending rate per RTT) at a loss rate p.

equations.py NAME P     prints the value of the function NAME at P
"""
import math
import sys

S_MAX = 32
S_MIN = 0.01
BETA = 0.125
LOW_WINDOW = 14


def bitcp_1_3(p: float, s_max: float = S_MAX, s_min: float = S_MIN) -> float:
    """(1.3): W_max * beta > 2 * S_max. 0 outside of that range."""
    a = BETA * (2 - BETA) / (2 * s_max)
    b = math.log2(s_max / s_min) + (2 - BETA) / 2
    c = s_max - s_min
    root = math.sqrt(b * b + 4 * a * (c + 1 / p))
    if (root - b) / (2 * a) * BETA <= 2 * s_max:
        return 0
    return (2 - BETA) / p / (root + (1 - BETA) * b + BETA * (2 - BETA) / 2)


def search_fixed_point(p: float, s_min: float = S_MIN) -> float:
    """W_max of the line above (1.5), before R is taken for W_max."""
    w = 1 / p
    for _ in range(200):
        w = 1 / ((math.log2(w * BETA / s_min) + 2 * (1 - BETA)) * p)
    return w


def bitcp_1_5(p: float, s_max: float = S_MAX, s_min: float = S_MIN) -> float:
    """(1.5) before its last approximation: R = 1/p / (log2(W_max * beta / S_min) + 2), with W_max
    from the fixed point above it. 0 outside of W_max * beta <= 2 * S_max, and below LOW_WINDOW."""
    w = search_fixed_point(p, s_min)
    if w * BETA > 2 * s_max or w < LOW_WINDOW:
        return 0
    return 1 / p / (math.log2(w * BETA / s_min) + 2)


def bitcp(p: float, s_max: float = S_MAX, s_min: float = S_MIN) -> float:
    """The equation that holds at p: (1.3), or else (1.5); 0: neither."""
    return bitcp_1_3(p, s_max, s_min) or bitcp_1_5(p, s_max, s_min)


def pseudo_code_epoch(w: float) -> tuple[float, float]:
    """Packets and round trips of an epoch that ends at a window of w, as (1.1) and (1.2) count
    them, but with the target of the pseudo-code, which moves with each ACK: below 2 * S_max from
    the maximum the distance g obeys g' = -g / 2 per round trip down to 2 * S_min, then shrinks by
    S_min: N_2 = 2 * ln(g / (2 * S_min)) + 2."""
    g = min(w * BETA, 2 * S_MAX)
    n1 = (w * BETA - g) / S_MAX
    n2 = 2 * math.log(g / (2 * S_MIN)) + 2
    packets = n1 * (w * (1 - BETA) + w - g) / 2 + w * n2 - 2 * (g - 2 * S_MIN) - 2 * S_MIN
    return packets, n1 + n2


def bitcp_pseudo_code(p: float) -> float:
    """The average window of such epochs, from W_max of LOW_WINDOW on."""
    low, high = LOW_WINDOW, 1 / p
    for _ in range(100):
        w = (low + high) / 2
        packets, rounds = pseudo_code_epoch(w)
        if packets < 1 / p:
            low = w
        else:
            high = w
    return 1 / p / rounds


def aimd(p: float) -> float:
    """AIMD with alpha 32, beta 0.125, below (1.4), and (1.4) itself, which is for small p."""
    return math.sqrt(32 / 2 * (2 - BETA) / BETA / p)


def hstcp(p: float) -> float:
    """HSTCP: section IV"""
    return 0.15 / p ** 0.82


def hstcp_rfc3649(p: float) -> float:
    """HSTCP by RFC 3649, section 5"""
    return 0.12 / p ** 0.835


def stcp(p: float) -> float:
    """STCP: a / (b p) with a 0.01, b 0.125, to which alpha w / (w beta p) comes. Paper 003 has b
    only; a and the equation are T. Kelly's, "Scalable TCP", 2002."""
    return 0.01 / BETA / p


def stcp_exact(p: float) -> float:
    """STCP without the approximation of small a and b: the window is multiplied by 1 + a per round
    trip, and a loss costs as many of those as ln(1 / (1 - b)) / ln(1 + a)."""
    return math.log(1 + 0.01) / -math.log(1 - BETA) / p


def reno(p: float) -> float:
    """TCP: AIMD with alpha 1, beta 0.5"""
    return math.sqrt(1.5 / p)


if __name__ == "__main__":
    print(globals()[sys.argv[1]](float(sys.argv[2])))
