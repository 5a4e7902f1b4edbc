/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "rpc/request.h"

tcptuned_handler tcptuned_status_handle;
