# SPDX-License-Identifier: GPL-2.0-only
#
# make stress: a minute, a thousand connections.

. "$TEST_TOP/tests/system/stress.sh"

# timeout: 600
stress_lifecycle_for_a_minute() {
	stress_lifecycle "${STRESS_SECONDS:-60}" "${STRESS_CONNECTIONS:-1000}"
}
