# SPDX-License-Identifier: GPL-2.0-only
#
# The runners. tests/run: what makes it fail, in a tree of which there is only tests/run itself, with
# a make that does nothing and a runner that only says what it is told to. tests/system/run: where it
# does not begin. bench/run and bench/table: what they take, and what they print.

# run_says CODE PATTERN KIND SAID: what tests/run does where the system tests' runner says that
run_says() {
	local code=0 top=$TEST_DIR/top
	mkdir -p "$TEST_DIR/bin" "$top/tests/system"
	cp "$TEST_TOP/tests/run" "$top/tests/"
	printf '#!/bin/sh\n' >"$TEST_DIR/bin/make"
	printf '#!/bin/sh\necho "%s"\n' "$4" >"$top/tests/system/run"
	chmod 755 "$TEST_DIR/bin/make" "$top/tests/system/run"
	PATH=$TEST_DIR/bin:$PATH TESTS_MAY_SKIP=${may_skip-} BUILD=$top/build \
		"$top/tests/run" "$3" >"$TEST_DIR/said" 2>&1 || code=$?
	expect_eq $code "$1" "exit code after '$4'"
	expect_match "$(<"$TEST_DIR/said")" "$2" "said"
}

test_what_is_skipped_is_a_failure() {
	local may_skip
	run_says 0 '^3 passed, 0 failed, 0 skipped, 0 repeated, 0 for other hosts$' system \
		'3 passed, 0 failed'
	run_says 0 '^4 passed, 0 failed, 0 skipped, 2 repeated, 1 for other hosts$' system \
		'4 passed, 0 failed, 0 skipped, 2 repeated, 1 for other hosts'
	run_says 1 'skipped: a failure, unless TESTS_MAY_SKIP gives a reason' system \
		'3 passed, 0 failed, 2 skipped'
	may_skip="no mirror" run_says 0 'skipped: no mirror' system '3 passed, 0 failed, 2 skipped'
	may_skip="no mirror" run_says 1 '^3 passed, 1 failed, 2 skipped' system \
		'3 passed, 1 failed, 2 skipped'
}

test_what_has_not_run_is_a_failure() {
	local may_skip="no mirror"
	run_says 1 '^not ok: system had no tests' system '0 passed, 0 failed, 0 skipped'
	run_says 1 '^0 passed, 0 failed, 2 skipped' system '0 passed, 0 failed, 2 skipped'
	run_says 1 '^not ok: system did not come to its end' system 'ok 1 something'
	run_says 1 '^not ok: system counts what is unknown here: forgotten' system \
		'3 passed, 0 failed, 1 forgotten'
	run_says 1 '^not ok: no programs in .*/unit' unit ''
	run_says 1 '^not ok fuzz: 0 programs of 0' asan ''
}

# Which tests an older kernel is not asked: they say what it lacks, and end there.
test_kernels_are_told_apart() {
	local release said code=0
	for release in 6.12.0 6.12-rc1 6.12.43+deb13-amd64 6.18.44-fc-v657 7.0.0 10.0; do
		TEST_KERNEL=$release has_linux 6.12 || fail "$release is taken for older than 6.12"
	done
	for release in 6.1.0-40-cloud-amd64 6.4.1 6.11.12 5.19.0 4.19; do
		! TEST_KERNEL=$release has_linux 6.12 || fail "$release is taken for 6.12"
	done
	TEST_KERNEL=6.12.0 needs_linux 6.12 "it does that"
	said=$(TEST_KERNEL=6.1.0-40 needs_linux 6.12 "it does that"; echo "goes on") || code=$?
	expect_eq "$code $said" "78 Linux 6.12 is needed: it does that" "where it is 6.1"
	has_linux 4.0 || fail "uname says $(uname -r)"
}

# bench/table: each section once, however many benches the one before it is made of.
test_a_bench_has_one_section_in_the_tables() {
	"$TEST_TOP/bench/table" "$TEST_TOP/bench/results/results.json" |
		grep '^### ' | sort >"$TEST_DIR/sections"
	expect_ge "$(wc -l <"$TEST_DIR/sections")" 20 "sections"
	expect_eq "$(uniq -d "$TEST_DIR/sections")" "" "sections that stand twice"
}

# Without programs to test (BUILD) it does not begin, whatever it finds: in here the processes of other
# runs cannot be seen, and it would sweep up after them.
refuses_to_begin() { # PATTERN WHAT
	local code=0
	BUILD=$TEST_DIR/none "$TEST_TOP/tests/system/run" -d "$TEST_DIR" 2>"$TEST_DIR/said" || code=$?
	expect_eq $code 2 "exit code"
	expect_match "$(<"$TEST_DIR/said")" "$1" "$2"
}

test_not_where_the_host_is_tuned() {
	refuses_to_begin '^run: build first' "with nothing in force"
	mkdir /sys/fs/bpf/tcptuned
	refuses_to_begin '^run: a tcptuned is in force .* systemctl stop tcptuned' "where one is pinned"
}

# What a bench takes from its environment is listed on top of bench/run, and checked by it before
# anything is measured.
test_what_benches_can_be_told_is_listed_and_checked() {
	local name code said
	sed '/^set -u/q' "$TEST_TOP/bench/run" >"$TEST_DIR/listed"
	for name in $(grep -hoE 'BENCH_[A-Z_]+' "$TEST_TOP"/bench/*.sh | sort -u); do
		case $name in
		BENCH_COMMIT | BENCH_PROGRESS) continue ;; # of bench/run itself
		esac
		grep -qw "$name" "$TEST_DIR/listed" || fail "bench/run does not list $name"
		case $name in
		BENCH_RESULTS | BENCH_LOCK) continue ;; # files of any name
		esac
		code=0
		said=$(env BUILD="$TEST_DIR/none" BENCH_RESULTS="$TEST_DIR/results" "$name=!" \
			"$TEST_TOP/bench/run" nothing 2>&1) || code=$?
		expect_eq $code 2 "exit code for $name"
		expect_match "$said" "^run: $name=!: " "$name"
	done
}
