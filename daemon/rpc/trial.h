/* SPDX-License-Identifier: GPL-2.0-only */
/* The request "trial". */
#pragma once

#include "rpc/request.h"

tcptuned_handler tcptuned_trial_handle;
