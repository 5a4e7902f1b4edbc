# SPDX-License-Identifier: GPL-2.0-only
#
# What system tests are made of. Sourced by `run`, under set -e: a command that fails fails the
# test. Nothing needs tidying up: see run.
#
#   Ground
#	$TEST_DIR		a directory of the test's own, removed afterwards
#	$TEST_CGROUP		the cgroup2 directory in which all processes of the test run
#	$TEST_MEMCG		the memory control group (version 1) that the test may make, and `run`
#				removes; empty where there is no version 1
#	in_group CMD...		runs CMD in a cgroup below that one, $TEST_CGROUP/group
#	in_beside CMD...	runs CMD in the cgroup next to it, which no daemon manages
#	$TEST_TOP, $TEST_BUILD	the repository, and what it built
#   Hosts and links
#	host NAME...		makes network namespaces, as hosts with loopback
#	in_host NAME CMD...	runs CMD there; mounts and cgroups stay as they are
#	link A B [LINKEM OPTION...]	joins two hosts; returns when the link is up. Its subnet is
#				10.99.N.0/30 and fd99:N::/64, N counting from 0, A first
#				$LINK_TOLERANCE (100): linkem's --tolerance; lateness makes
#				assertions fail, never hold, and such a failure is tried again;
#				$LINK_IDLE (poll): its --idle; $LINK_SECONDS (600): its
#				--duration, after which it ends by itself
#	${ADDR[NAME]} ${ADDR6[NAME]}	a host's address on the link made last
#	link_stats A B [FILTER]	linkem's statistics now (or at the end), through jq -r FILTER
#	link_end A B		takes the link away; the final statistics stay readable
#	link_end_all		all of them; a failed test if one was invalid
#	valid_run FUNCTION [ARG...]	calls FUNCTION, which makes links and measures, then ends the
#				links; repeats it if linkem says that it was late or overloaded,
#				and fails after the fifth time. Assert on its results afterwards
#   Traffic
#	transfer A B [MESSAGES OPTION...]	sends from A to B; prints the result as JSON and
#				keeps it in $TEST_DIR/transfer.json. Options go to both sides.
#				SENDER_PREFIX and RECEIVER_PREFIX (say, in_group) go before the
#				command; TRANSFER_ADDR overrides ${ADDR[B]} (say, "${ADDR6[b]}")
#	listener NAME PREFIX [MESSAGES OPTION...]	starts a receiver in the background, PREFIX before
#				its command, and waits until it listens
#   Congestion controls
#	register NAME...	offers to the host those that bench/cc, or bpf, has an object of; the
#				others are the kernel's own. Names are the whole host's: benches that
#				take turns (BENCH_LOCK) register and unregister within a row
#	unregister		all of them; the end of the test does so, too
#   The daemon
#	tcptuned_start [OPTION...]	starts it for the processes of in_group, waits until it is
#				ready; its log is $TEST_DIR/tcptuned.log, its endpoint $METRICS
#	tcptuned_stop		stops it cleanly; returns its exit code. A test that ends well with a
#				daemon does so, too, and the code has to be 0
#	"${daemon_options[@]}"	what tcptuned_start gives it; later options prevail
#	"${tcptunectl[@]}"	the command that ctl runs, for `background`
#	scrape			keeps what the endpoint says now in $TEST_DIR/scrape
#	metric NAME[{LABELS}]	the value of one line of the endpoint
#	ctl ARGUMENT...		tcptunectl, of this daemon
#	ctl_json FILTER ARGUMENT...	its JSON, through jq -r FILTER
#	flow PORT FILTER	of the flow whose local port is PORT, through jq -r FILTER
#	flow_to PORT FILTER	of the flow whose remote port is PORT
#   Processes
#	background NAME CMD...	starts CMD (a function too); its output goes to $TEST_DIR/NAME.log
#	pid_of NAME		prints its process id
#	stop NAME [SIGNAL]	ends it (SIGTERM) and waits; returns its exit code
#	wait_until SECONDS CMD...	until CMD succeeds; fails the test when time is up
#	wait_output SECONDS OPERATOR VALUE CMD...	until what CMD prints compares to VALUE by test(1)
#   Assertions: all print what they saw, and end the test
#	expect_ge VALUE BOUND WHAT	VALUE >= BOUND, decimal fractions and exponents welcome
#	expect_le VALUE BOUND WHAT
#	expect_between VALUE LEAST MOST WHAT
#	expect_eq VALUE WANTED WHAT	equal as text
#	expect_match TEXT PATTERN WHAT	PATTERN is an extended regular expression
#	expect_fail CODE CMD...	CMD ends with that exit code
#	long_chain		policies with more rules for one destination than there may be
#	fail MESSAGE...		the test is repeated if a link of its was disturbed
#	fail_for_good MESSAGE...	it is not: for what lateness cannot explain
#	expect_undamaged NUMBER WHAT	bytes damaged: none
#	skip REASON...		a failure of tests/run, unless TESTS_MAY_SKIP allows it
#	for_another_host REASON...	nothing that could be installed here would let it run
#	needs_linux 6.12 WHAT	that, on an older kernel, which does not do WHAT
#	has_linux 6.12		is this kernel as new as that? ($TEST_KERNEL: another release than
#				uname's, to see which tests ask)

declare -A ADDR ADDR6 LIB_PID LIB_LINK_CODE
lib_links=()

note() {
	echo "# $*" >&2
}

fail() {
	trap - ERR
	echo "FAILED: $*" >&2
	lib_where
	exit 1
}

fail_for_good() {
	trap - ERR
	echo "FAILED for good: $*" >&2
	lib_where
	exit 1
}

skip() {
	trap - ERR
	echo "$*"
	exit 77
}

for_another_host() {
	trap - ERR
	echo "$*"
	exit 78
}

has_linux() {
	local release=${TEST_KERNEL:-$(uname -r)}
	printf '%s\n' "$1" "${release%%-*}" | sort -C -V
}

needs_linux() {
	has_linux "$1" || for_another_host "Linux $1 is needed: $2"
}

# Which lines of the test led here.
lib_where() {
	local i
	for ((i = 1; i < ${#FUNCNAME[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} == */@(test_*.sh|systemd/run) ]] || continue
		echo "  at ${BASH_SOURCE[i]##*/}:${BASH_LINENO[i - 1]}, ${FUNCNAME[i]}" >&2
	done
}

lib_failed_command() { # CODE COMMAND; the trap of ERR
	[ "$BASHPID" = "${lib_shell-$$}" ] || return 0 # a subshell's failure comes up to the test's shell
	echo "FAILED: exit code $1 of: $2" >&2
	lib_where
}

# --- assertions ------------------------------------------------------------------------------
lib_compare() { # VALUE OPERATOR BOUND WHAT
	local number='^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$'
	[[ $1 =~ $number ]] || fail "$4: '$1' is not a number"
	[[ $3 =~ $number ]] || fail "$4: the bound '$3' is not a number"
	awk -v a="$1" -v b="$3" "BEGIN { exit !(a + 0 $2 b + 0) }" ||
		fail "$4: $1, expected $2 $3"
	note "$4: $1 ($2 $3)"
}

expect_ge() {
	lib_compare "$1" '>=' "$2" "$3"
}

expect_le() {
	lib_compare "$1" '<=' "$2" "$3"
}

expect_between() {
	expect_ge "$1" "$2" "$4"
	expect_le "$1" "$3" "$4"
}

expect_eq() {
	[ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"
	note "$3: $1"
}

expect_undamaged() {
	[[ $1 =~ ^[0-9]+$ ]] || fail "$2: bytes damaged: '$1' is not a number"
	[ "$1" = 0 ] || fail_for_good "$2: bytes damaged: $1"
	note "$2: nothing damaged"
}

expect_match() {
	grep -Eq -- "$2" <<<"$1" || fail "$3: no match for /$2/ in: $1"
}

expect_fail() {
	local want=$1 code=0
	shift
	"$@" || code=$?
	[ $code = "$want" ] || fail "exit code $code, expected $want, of: $*"
}

long_chain() {
	seq 1400 | awk '{ s = int($1 / 256) "." $1 % 256 ".0/24" }
		$1 % 7 == 1 { printf "[policy p%d]\ndestination = 10.0.0.0/8\n", $1 }
		{ printf "source = 10.%s, 11.%s, 12.%s\n", s, s, s }'
}

# --- processes -------------------------------------------------------------------------------
in_group() {
	(
		trap - ERR
		lib_exec in_group "$@"
	)
}

background() {
	local name=$1
	shift
	: >"$TEST_DIR/$name.log" # now: who waits for a line in it must not find an old one
	(
		trap - ERR
		lib_exec "$@"
	) >"$TEST_DIR/$name.log" 2>&1 9>&- & # 9: the lock of who measures (bench/lib.sh)
	LIB_PID[$name]=$!
}

# Becomes the command, so that its process id is the one that was kept. Understands in_host and
# in_group or in_beside before it, in any order.
lib_exec() {
	local enter=()
	while :; do
		case $1 in
		in_host)
			enter=(nsenter --net="/run/netns/$(lib_netns "$2")")
			shift 2
			;;
		in_group | in_beside)
			echo 0 >"$TEST_CGROUP/${1#in_}/cgroup.procs"
			shift
			;;
		*)
			if [ "$(type -t "$1")" = function ]; then
				"$@"
				exit
			fi
			exec "${enter[@]}" "$@"
			;;
		esac
	done
}

pid_of() {
	echo "${LIB_PID[$1]}"
}

stop() {
	local pid=${LIB_PID[$1]} code=0
	kill -"${2-TERM}" "$pid" 2>/dev/null || :
	wait "$pid" || code=$?
	unset "LIB_PID[$1]"
	return $code
}

wait_until() {
	local end=$((SECONDS + $1 + 1)) seconds=$1
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "not within $seconds s: $*"
		sleep 0.05
	done
}

wait_output() {
	wait_until "$1" lib_outputs "${@:2}"
}

lib_outputs() { # OPERATOR VALUE CMD...
	test "$("${@:3}")" "$1" "$2"
}

# --- hosts and links ---------------------------------------------------------------------------
lib_netns() {
	echo "$TEST_PREFIX-$1"
}

host() {
	local name limits
	limits=$(sysctl -e net.ipv4.tcp_rmem net.ipv4.tcp_wmem | sed 's/ = /=/')
	for name; do
		ip netns add "$(lib_netns "$name")"
		xargs -d '\n' nsenter --net="/run/netns/$(lib_netns "$name")" sysctl -qw <<<"$limits"
		in_host "$name" ip link set lo up
		# or one transfer teaches the next
		in_host "$name" sysctl -qw net.ipv4.tcp_no_metrics_save=1
	done
}

# `ip netns exec` would mount another /sys over cgroups and pins; nsenter leaves them.
in_host() {
	(
		trap - ERR
		lib_exec in_host "$@"
	)
}

link() {
	local a=$1 b=$2 n=${#lib_links[@]} name=link-$1-$2
	shift 2
	lib_links+=("$name")
	rm -f "$TEST_DIR/$name.json"
	background "$name" "$TEST_BUILD/linkem" \
		--ns-a "$(lib_netns "$a")" --ns-b "$(lib_netns "$b")" \
		--dev-a "tun$n" --dev-b "tun$n" \
		--addr-a "10.99.$n.1/30" --addr-b "10.99.$n.2/30" \
		--addr6-a "fd99:$n::1/64" --addr6-b "fd99:$n::2/64" \
		--duration "${LINK_SECONDS:-600}" --stats "$TEST_DIR/$name.json" \
		--tolerance "${LINK_TOLERANCE:-100}" --idle "${LINK_IDLE:-poll}" "$@"
	ADDR[$a]=10.99.$n.1 ADDR[$b]=10.99.$n.2
	ADDR6[$a]=fd99:$n::1 ADDR6[$b]=fd99:$n::2
	wait_until 20 lib_link_settled "$name"
	grep -q '^ready$' "$TEST_DIR/$name.log" ||
		fail "linkem: $(cat "$TEST_DIR/$name.log")"
}

lib_link_settled() { # ready, or ended with an error
	grep -q '^ready$' "$TEST_DIR/$1.log" || ! kill -0 "$(pid_of "$1")"
}

link_stats() {
	local name=link-$1-$2
	if [ -n "${LIB_PID[$name]-}" ]; then
		rm -f "$TEST_DIR/$name.json"
		kill -USR1 "$(pid_of "$name")"
		wait_until 5 test -s "$TEST_DIR/$name.json"
	fi
	jq -r "${3-.}" "$TEST_DIR/$name.json"
}

# Returns linkem's exit code: 0, or 3 if the run was invalid.
link_end() {
	local name=link-$1-$2 code=0
	stop "$name" || code=$?
	lib_drop_link "$name"
	[ $code = 0 ] ||
		note "linkem $1 $2: $(jq -c .invalid_reasons "$TEST_DIR/$name.json" || :)"
	lib_note_lateness "$name"
	return $code
}

lib_drop_link() { # NAME
	local kept=() name
	for name in "${lib_links[@]}"; do
		[ "$name" = "$1" ] || kept+=("$name")
	done
	lib_links=("${kept[@]}")
}

# 0 if all were valid
lib_end_links() {
	local name ends code=0
	for name in "${lib_links[@]}"; do
		ends=${name#link-}
		link_end "${ends%%-*}" "${ends#*-}" || code=$?
	done
	return $code
}

link_end_all() {
	lib_end_links || fail "the emulated link was late or overloaded: this is no result"
}

valid_run() {
	local try
	for try in 1 2 3 4 5; do
		"$@"
		if lib_end_links; then
			return 0
		fi
		note "run $try of $1 is invalid"
		sleep $((2 * try)) # what disturbs comes and goes
	done
	fail "the emulated link was late or overloaded five times: no result"
}

# What `run` looks for when a test has failed: a link that was late gives it another chance.
lib_note_lateness() { # LINK
	local late
	late=$(jq '[.ab, .ba] | map(.late_us.p99) | max' "$TEST_DIR/$1.json" 2>/dev/null) || :
	if [ -z "$late" ]; then
		note "$1: how late it was is not known"
	elif [ "${late%.*}" -ge 2000 ]; then
		note "noise: $1 was late by $late us (p99)"
	fi
}

lib_look_for_noise() { # a test failed while these links were up
	local name
	trap - ERR
	set +e
	for name in "${lib_links[@]}"; do
		rm -f "$TEST_DIR/$name.json"
		kill -USR1 "${LIB_PID[$name]}" 2>/dev/null || continue
		for _ in {1..20}; do
			[ ! -s "$TEST_DIR/$name.json" ] || break
			sleep 0.1
		done
		lib_note_lateness "$name"
	done
}

# --- traffic -----------------------------------------------------------------------------------
lib_receiver_settled() { # it listens, or ended with an error
	grep -q '^listening' "$TEST_DIR/receiver.log" || ! kill -0 "$(pid_of receiver)"
}

transfer() {
	local a=$1 b=$2 to code=0
	to=${TRANSFER_ADDR:-${ADDR[$2]}}
	shift 2
	background receiver in_host "$b" ${RECEIVER_PREFIX-} "$TEST_BUILD/messages" \
		--listen "$to" --once "$@"
	wait_until 10 lib_receiver_settled
	grep -q '^listening' "$TEST_DIR/receiver.log" ||
		fail "messages: $(cat "$TEST_DIR/receiver.log")"
	in_host "$a" ${SENDER_PREFIX-} "$TEST_BUILD/messages" --connect "$to" "$@" \
		>"$TEST_DIR/transfer.json" || code=$?
	stop receiver || :
	[ $code != 3 ] || fail_for_good "messages: damaged or missing: $(tail -n 5 "$TEST_DIR/transfer.json")"
	[ $code = 0 ] || fail "messages: exit code $code: $(cat "$TEST_DIR/transfer.json" \
		"$TEST_DIR/receiver.log" | tail -n 5)"
	cat "$TEST_DIR/transfer.json"
}

listener() {
	local name=$1 prefix=$2
	shift 2
	background "$name" $prefix "$TEST_BUILD/messages" --once "$@"
	wait_until 5 grep -q '^listening' "$TEST_DIR/$name.log"
}

# --- congestion controls -----------------------------------------------------------------------
lib_registered=()

register() {
	local name object
	for name; do
		[[ " ${lib_registered[*]} " != *" $name "* ]] || continue
		for object in "$TEST_BUILD"/{bench,bpf}/cc/"$name.bpf.o"; do
			[ -e "$object" ] || continue
			# what was killed has left it
			bpftool struct_ops unregister name "$name" >/dev/null 2>&1 || :
			lib_registered+=("$name")
			bpftool struct_ops register "$object"
		done
	done
}

unregister() {
	local name
	for name in "${lib_registered[@]}"; do
		bpftool struct_ops unregister name "$name" || :
	done
	lib_registered=()
}

# --- the daemon --------------------------------------------------------------------------------
METRICS_PORT=${METRICS_PORT:-9871}
METRICS=http://127.0.0.1:$METRICS_PORT

daemon_options=(--foreground --config="${TEST_DIR-}/none.conf"
	--set=tcptuned.cgroup="${TEST_CGROUP-}/group" --set=tcptuned.runtime_directory="${TEST_DIR-}/run"
	--set=tcptuned.state_directory="${TEST_DIR-}/state" --set=metrics.port="$METRICS_PORT")
tcptunectl=("${TEST_BUILD-}/tcptunectl" --config="${TEST_DIR-}/none.conf"
	--set=tcptuned.runtime_directory="${TEST_DIR-}/run" --set=tcptuned.state_directory="${TEST_DIR-}/state")
[ -z "${TEST_DIR-}" ] || : >"$TEST_DIR/none.conf"

tcptuned_start() {
	background tcptuned ${TCPTUNED_PREFIX-} setpriv --ruid="$TEST_UID" "$TEST_BUILD/tcptuned" \
		"${daemon_options[@]}" "$@"
	wait_until 10 lib_tcptuned_settled
	kill -0 "$(pid_of tcptuned)" || fail "tcptuned: $(cat "$TEST_DIR/tcptuned.log")"
}

lib_tcptuned_settled() { # answers, or ended with an error
	curl -sf -o "$TEST_DIR/page" "$METRICS/" || ! kill -0 "$(pid_of tcptuned)"
}

tcptuned_stop() {
	stop tcptuned
}

ctl() {
	"${tcptunectl[@]}" "$@"
}

ctl_json() {
	local filter=$1
	shift
	ctl "$@" --json | jq -r "$filter"
}

# The daemon keeps an answer for a second, or until tcptunectl asks for something.
lib_metrics() {
	ctl status >/dev/null || :
	curl -sf "$METRICS/metrics"
}

scrape() {
	lib_metrics >"$TEST_DIR/scrape"
}

metric() {
	lib_metrics | awk -v name="$1" '$1 == name && !n++ { print $2 }'
}

flow() {
	ctl_json "first(.flows[]) | $2" flows --local-port "$1"
}

flow_to() {
	ctl_json "first(.flows[]) | $2" flows --remote-port "$1"
}
