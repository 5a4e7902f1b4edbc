/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests that compare integers of the algorithms with doubles. Included after cmocka.h. */
#ifndef TCPTUNED_TEST_NUMBERS_H
#define TCPTUNED_TEST_NUMBERS_H

#include <math.h>

#include "util/array.h"

#define Q16	      65536.0
#define Q32	      4294967296.0
#define NO_SLOW_START 0u /* an ssthresh below every window */

#define assert_near(a, b, tolerance)                                                         \
	do {                                                                                 \
		double a_ = (a), b_ = (b), t_ = (tolerance);                                 \
		if (!(fabs(a_ - b_) <= t_))                                                  \
			fail_msg("%s = %.9g, %s = %.9g, more than %g apart", #a, a_, #b, b_, \
				 t_);                                                        \
	} while (0)

#endif
