/* SPDX-License-Identifier: GPL-2.0-only */
/* The request "trial". */
#ifndef TCPTUNED_RPC_TRIAL_H
#define TCPTUNED_RPC_TRIAL_H

#include "rpc/request.h"

tcptuned_handler tcptuned_trial_handle;

#endif
