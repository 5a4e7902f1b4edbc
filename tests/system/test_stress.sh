# SPDX-License-Identifier: GPL-2.0-only
#
# A short round of what `make stress` does for a minute.

. "$TEST_TOP/tests/system/stress.sh"

# timeout: 90
test_lifecycle_under_load() {
	stress_lifecycle 4 100
}
