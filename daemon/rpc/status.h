/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_RPC_STATUS_H
#define TCPTUNED_RPC_STATUS_H

#include "rpc/request.h"

tcptuned_handler tcptuned_status_handle;

#endif
