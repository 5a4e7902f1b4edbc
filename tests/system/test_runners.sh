# SPDX-License-Identifier: GPL-2.0-only
# The runners. tests/run: which closing lines of a runner are failures, in a tree that has only tests/run,
# with a make that does nothing. tests/system/run: when it refuses to begin.

# tests/run, after the runner of the system tests has printed LINE.
run_says() { # CODE PATTERN KIND LINE
	local code=0 top=$TEST_DIR/top
	mkdir -p "$TEST_DIR/bin" "$top/tests/system"
	cp "$TEST_TOP/tests/run" "$top/tests/"
	printf '#!/bin/sh\n' >"$TEST_DIR/bin/make"
	printf '#!/bin/sh\necho "%s"\n' "$4" >"$top/tests/system/run"
	chmod 755 "$TEST_DIR/bin/make" "$top/tests/system/run"
	PATH=$TEST_DIR/bin:$PATH TESTS_MAY_SKIP=${may_skip-} BUILD=$top/build \
		"$top/tests/run" "$3" >"$TEST_DIR/said" 2>&1 || code=$?
	expect_eq $code "$1" "exit code after '$4'"
	expect_match "$(<"$TEST_DIR/said")" "$2" "output"
}

unit_program() { # WHAT IT PRINTS
	local top=$TEST_DIR/top
	mkdir -p "$top/tests/unit" "$top/build/unit"
	: >"$top/tests/unit/test_some.c"
	printf '#!/bin/sh\nprintf "%s"\n' "$1" >"$top/build/unit/test_some"
	chmod 755 "$top/build/unit/test_some"
}

test_skipped_and_missing_tests_are_failures() {
	local may_skip=
	run_says 0 '^4 passed, 0 failed, 0 skipped, 1 for other hosts$' system \
		'4 passed, 0 failed, 0 skipped, 1 for other hosts'
	run_says 1 'skipped: a failure, unless TESTS_MAY_SKIP gives a reason' system \
		'3 passed, 0 failed, 2 skipped'
	may_skip="no mirror"
	run_says 0 'skipped: no mirror' system '3 passed, 0 failed, 2 skipped'
	run_says 1 '^3 passed, 1 failed, 2 skipped' system '3 passed, 1 failed, 2 skipped'
	run_says 1 '^not ok: system had no tests' system '0 passed, 0 failed, 0 skipped'
	run_says 1 '^0 passed, 0 failed, 2 skipped' system '0 passed, 0 failed, 2 skipped'
	run_says 1 '^not ok: system did not come to its end' system 'ok 1 something'
	run_says 1 '^not ok: system counts what is unknown here: forgotten' system \
		'3 passed, 0 failed, 1 forgotten'
	run_says 1 '^not ok: no programs in .*/unit' unit ''
	unit_program '[  PASSED  ] 3 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] one\n'
	run_says 1 ' failed, 2 skipped, 0 for other hosts$' unit ''
	run_says 1 '^not ok fuzz: 0 programs of 0' asan ''
}

# Without programs to test (BUILD) it does not begin in any case: it would sweep up after other runs, whose
# processes it cannot see in here.
refuses_to_begin() { # PATTERN WHAT
	local code=0
	BUILD=$TEST_DIR/none "$TEST_TOP/tests/system/run" -d "$TEST_DIR" 2>"$TEST_DIR/said" || code=$?
	expect_eq $code 2 "exit code"
	expect_match "$(<"$TEST_DIR/said")" "$1" "$2"
}

test_not_where_the_host_is_tuned() {
	refuses_to_begin '^run: build first' "without programs"
	mkdir /sys/fs/bpf/tcptuned
	refuses_to_begin '^run: a tcptuned is in force .* systemctl stop tcptuned' "where one is pinned"
}
