/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_RPC_ADVISE_H
#define TCPTUNED_RPC_ADVISE_H

#include "rpc/request.h"

tcptuned_handler tcptuned_advise_handle;

#endif
