/* SPDX-License-Identifier: GPL-2.0-only */
/* What every libFuzzer target includes. `make fuzz` runs them. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                             \
	do {                                                         \
		if (!(condition)) {                                  \
			fprintf(stderr, "failed: %s\n", #condition); \
			abort();                                     \
		}                                                    \
	} while (0)
