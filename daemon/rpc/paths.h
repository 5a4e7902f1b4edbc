/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "rpc/request.h"

/* The share of segments that were retransmitted. */
double tcptuned_path_loss(const struct tcptuned_path *path);
