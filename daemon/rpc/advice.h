/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_RPC_ADVICE_H
#define TCPTUNED_RPC_ADVICE_H

#include "rpc/request.h"

tcptuned_handler tcptuned_advice_handle;

#endif
