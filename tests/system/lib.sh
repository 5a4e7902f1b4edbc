# SPDX-License-Identifier: GPL-2.0-only
# What system tests and measurements use. `run` sources it under set -e: a command that fails fails the
# test. `run` also removes what a test leaves: processes, network namespaces, mounts, pins, directories.
#
#	$TEST_DIR		a directory of this test
#	$TEST_CGROUP		the cgroup2 directory in which all processes of this test run
#	$TEST_MEMCG		the memory control group (version 1) that this test may make; empty where
#				there is no version 1
#	$TEST_TOP, $TEST_BUILD	the repository, and what it built
#	${ADDR[HOST]}, ${ADDR6[HOST]}	the addresses of a host on the link that was made last

declare -A ADDR=() ADDR6=() LIB_PID=() lib_links=()

note() {
	echo "# $*" >&2
}

fail() {
	trap - ERR
	echo "FAILED: $*" >&2
	lib_where
	exit 1
}

lib_skip() { # STATUS REASON...
	trap - ERR
	echo "${@:2}"
	exit "$1"
}

# A skipped test is a failure of tests/run, unless TESTS_MAY_SKIP allows it.
skip() {
	lib_skip 77 "$@"
}

# Nothing that could be installed would let the test run here.
for_another_host() {
	lib_skip 78 "$@"
}

has_linux() { # RELEASE
	printf '%s\n' "$1" "$(uname -r | cut -d - -f 1)" | sort -C -V
}

needs_linux() { # RELEASE REASON
	has_linux "$1" || for_another_host "Linux $1 is needed: $2"
}

# Prints which lines of the test led here.
lib_where() {
	local i
	for ((i = 1; i < ${#FUNCNAME[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} == */@(test_*.sh|systemd/run) ]] || continue
		echo "  at ${BASH_SOURCE[i]##*/}:${BASH_LINENO[i - 1]}, ${FUNCNAME[i]}" >&2
	done
}

lib_failed_command() { # STATUS COMMAND; the trap of ERR
	[ "$BASHPID" = "${lib_shell-$$}" ] || return 0 # the test's shell sees the failure of a subshell, too
	echo "FAILED: exit code $1 of: $2" >&2
	lib_where
}

# --- assertions: they print what they saw, and end the test --------------------------------------
lib_compare() { # VALUE OPERATOR BOUND WHAT
	local number='^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$'
	[[ $1 =~ $number ]] || fail "$4: '$1' is not a number"
	[[ $3 =~ $number ]] || fail "$4: the bound '$3' is not a number"
	awk -v a="$1" -v b="$3" "BEGIN { exit !(a + 0 $2 b + 0) }" ||
		fail "$4: $1, expected $2 $3"
	note "$4: $1 ($2 $3)"
}

expect_ge() { # VALUE BOUND WHAT
	lib_compare "$1" '>=' "$2" "$3"
}

expect_le() { # VALUE BOUND WHAT
	lib_compare "$1" '<=' "$2" "$3"
}

expect_between() { # VALUE MIN MAX WHAT
	expect_ge "$1" "$2" "$4"
	expect_le "$1" "$3" "$4"
}

expect_eq() { # TEXT WANTED WHAT
	[ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"
	note "$3: $1"
}

expect_undamaged() { # BYTES WHAT
	[[ $1 =~ ^[0-9]+$ ]] || fail "$2: bytes damaged: '$1' is not a number"
	[ "$1" = 0 ] || fail "$2: bytes damaged: $1"
	note "$2: nothing damaged"
}

expect_match() { # TEXT EXTENDED_REGULAR_EXPRESSION WHAT
	grep -Eq -- "$2" <<<"$1" || fail "$3: no match for /$2/ in: $1"
}

expect_fail() { # STATUS COMMAND...
	local code=0
	"${@:2}" || code=$?
	[ $code = "$1" ] || fail "exit code $code, expected $1, of: ${*:2}"
}

in_group() ( # COMMAND...; in the control group that the daemon manages
	trap - ERR
	lib_exec in_group "$@"
)

# Starts a command or a function. Its output goes to $TEST_DIR/NAME.log.
background() { # NAME COMMAND...
	: >"$TEST_DIR/$1.log" # now: no one may find a line of an earlier process
	(
		trap - ERR
		lib_exec "${@:2}"
	) >"$TEST_DIR/$1.log" 2>&1 9>&- & # 9: the lock of a measurement (bench/lib.sh)
	LIB_PID[$1]=$!
}

# Becomes the command, so that its process ID is the one that was kept. in_host HOST, in_group and
# in_beside (a control group that no daemon manages) may precede it, in any order.
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

pid_of() { # NAME
	echo "${LIB_PID[$1]}"
}

# Ends a process and returns its exit code.
stop() { # NAME [SIGNAL]
	local pid=${LIB_PID[$1]} code=0
	kill -"${2-TERM}" "$pid" 2>/dev/null || :
	wait "$pid" || code=$?
	unset "LIB_PID[$1]"
	return $code
}

# Waits as long as a busy host may take.
wait_until() { # COMMAND...
	local limit=${WAIT_LIMIT_S-120} tries=0
	local end=$((SECONDS + limit))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] ||
			fail "not within $limit s: $*$([ "$1" != lib_outputs ] || sed 's/^/, but: /' "$TEST_DIR/output")"
		[ $((tries++)) -lt 10 ] && sleep 0.1 || sleep "${WAIT_S-0.3}" # six lanes share the processors
	done
}

# The kernel frees programs of struct_ops after a grace period of Tasks RCU (bpf_struct_ops_map_free()), which took
# more than four minutes on a host with two busy loops.
wait_until_freed() { # COMMAND...
	WAIT_LIMIT_S=900 wait_until "$@"
}

# Waits until what the command prints compares to VALUE by test(1).
wait_output() { # OPERATOR VALUE COMMAND...
	wait_until lib_outputs "$@"
}

lib_outputs() { # OPERATOR VALUE COMMAND...
	"${@:3}" >"$TEST_DIR/output" 2>&1 || :
	test "$(<"$TEST_DIR/output")" "$1" "$2"
}

has_ended() { # NAME
	! kill -0 "$(pid_of "$1")" 2>/dev/null
}

# True when the command succeeds, or the background process has ended before it did.
or_ended() { # NAME COMMAND...
	"${@:2}" || has_ended "$1"
}

# Waits until a background process has printed a line that matches.
wait_printed() { # NAME PATTERN
	wait_until or_ended "$1" grep -q -- "$2" "$TEST_DIR/$1.log"
	grep -q -- "$2" "$TEST_DIR/$1.log" || fail "$1 ended: $(<"$TEST_DIR/$1.log")"
}

# --- hosts and links ---------------------------------------------------------------------------
lib_netns() {
	echo "$TEST_PREFIX-$1"
}

# Makes network namespaces, as hosts, with the default congestion control $CONGESTION, if that is set.
host() { # NAME...
	local name limits
	limits=$(sysctl -e net.ipv4.tcp_rmem net.ipv4.tcp_wmem | sed 's/ = /=/')
	for name; do
		ip netns add "$(lib_netns "$name")"
		xargs -d '\n' nsenter --net="/run/netns/$(lib_netns "$name")" sysctl -qw <<<"$limits"
		in_host "$name" ip link set lo up
		# or one transfer teaches the next
		in_host "$name" sysctl -qw net.ipv4.tcp_no_metrics_save=1 \
			${CONGESTION:+net.ipv4.tcp_congestion_control="$CONGESTION"}
	done
}

# `ip netns exec` would mount another /sys over cgroups and pins; nsenter leaves them.
in_host() ( # HOST COMMAND...
	trap - ERR
	lib_exec in_host "$@"
)

# Joins two hosts. The subnet is 10.99.N.0/30 and fd99:N::/64, with A first and N counting from 0.
link() { # A B [LINKEM OPTION...]
	local a=$1 b=$2 n=${#lib_links[@]} name=link-$1-$2
	lib_links[$name]=1
	rm -f "$TEST_DIR/$name.json"
	background "$name" "$TEST_BUILD/linkem" \
		--ns-a "$(lib_netns "$a")" --ns-b "$(lib_netns "$b")" \
		--dev-a "tun$n" --dev-b "tun$n" \
		--addr-a "10.99.$n.1/30" --addr-b "10.99.$n.2/30" \
		--addr6-a "fd99:$n::1/64" --addr6-b "fd99:$n::2/64" \
		--duration "${LINK_SECONDS:-600}" --stats "$TEST_DIR/$name.json" \
		--tolerance "${LINK_TOLERANCE:-100}" --idle "${LINK_IDLE:-poll}" "${@:3}"
	ADDR[$a]=10.99.$n.1 ADDR[$b]=10.99.$n.2
	ADDR6[$a]=fd99:$n::1 ADDR6[$b]=fd99:$n::2
	wait_printed "$name" '^ready$'
}

# Prints statistics of a link, of now or of its end.
link_stats() { # A B [JQ_FILTER]
	[ -z "${LIB_PID[link-$1-$2]-}" ] || lib_write_statistics "link-$1-$2"
	jq -r "${3-.}" "$TEST_DIR/link-$1-$2.json"
}

lib_write_statistics() { # LINK
	rm -f "$TEST_DIR/$1.json"
	kill -USR1 "${LIB_PID[$1]}" 2>/dev/null || return 0
	wait_until or_ended "$1" [ -s "$TEST_DIR/$1.json" ]
}

# Returns linkem's exit code: 0, or 3 if the run was invalid.
link_end() { # A B
	local name=link-$1-$2 code=0
	stop "$name" || code=$?
	unset "lib_links[$name]"
	[ $code = 0 ] ||
		note "linkem $1 $2: $(jq -c .invalid_reasons "$TEST_DIR/$name.json" || :)"
	return $code
}

# Returns 0 if all links were valid.
lib_end_links() {
	local name ends code=0
	for name in "${!lib_links[@]}"; do
		ends=${name#link-}
		link_end "${ends%%-*}" "${ends#*-}" || code=$?
	done
	return $code
}

link_end_all() {
	lib_end_links || fail "the emulated link was late or overloaded: this is no result"
}

# Calls a function that makes links and measures, and ends the links. Assertions come after it.
measure() { # FUNCTION [ARGUMENT...]
	"$@"
	link_end_all
}

# Starts a receiver for one transfer; PREFIX precedes the command.
listener() { # NAME PREFIX [MESSAGES OPTION...]
	background "$1" $2 "$TEST_BUILD/messages" --once "${@:3}"
	wait_printed "$1" '^listening'
}

# Sends from A to B, and prints the result as JSON, which is also in $TEST_DIR/transfer.json. Options go
# to both sides. SENDER_PREFIX and RECEIVER_PREFIX (in_group) precede the commands; TRANSFER_ADDR
# replaces ${ADDR[B]}.
transfer() { # A B [MESSAGES OPTION...]
	local to=${TRANSFER_ADDR:-${ADDR[$2]}} code=0
	listener receiver "in_host $2 ${RECEIVER_PREFIX-}" --listen "$to" "${@:3}"
	in_host "$1" ${SENDER_PREFIX-} "$TEST_BUILD/messages" --connect "$to" "${@:3}" \
		>"$TEST_DIR/transfer.json" || code=$?
	stop receiver || :
	lib_expect_transferred messages $code "$TEST_DIR/transfer.json" "$TEST_DIR/receiver.log"
	cat "$TEST_DIR/transfer.json"
}

# Prints the Mbit/s in the second half of the last transfer, which had --series.
late_rate() {
	jq '.series as $s | ($s | length) as $n | $s[($n / 2 | floor)] as $m | $s[-1] as $e
		| ($e[1] - $m[1]) * 8 / ($e[0] - $m[0]) / 1e6' "$TEST_DIR/transfer.json"
}

lib_expect_transferred() { # NAME STATUS LOG_OF_SENDER LOG_OF_RECEIVER
	[ $2 != 3 ] || fail "$1: damaged or missing: $(tail -n 5 "$3")"
	[ $2 = 0 ] || fail "$1: exit code $2: $(tail -n 5 "$3" "$4")"
}

keep_alive=(python3 "${TEST_TOP-}/tests/system/keep_alive.py") # idle connections

# --- congestion controls -----------------------------------------------------------------------
lib_registered=()

# Registers those that bench/cc or bpf has an object of; the others are the kernel's own. Names are
# the whole host's: measurements that take turns register and unregister within a row.
register() { # NAME...
	local name object
	for name; do
		[[ " ${lib_registered[*]} " != *" $name "* ]] || continue
		for object in "$TEST_BUILD"/{bench,bpf}/cc/"$name.bpf.o"; do
			[ -e "$object" ] || continue
			# one that a killed test has left
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
METRICS_PORT=9871
METRICS=http://127.0.0.1:$METRICS_PORT

daemon_options=(--foreground --config="${TEST_DIR-}/none.conf"
	--set=tcptuned.cgroup="${TEST_CGROUP-}/group" --set=tcptuned.runtime_directory="${TEST_DIR-}/run"
	--set=tcptuned.state_directory="${TEST_DIR-}/state" --set=metrics.port="$METRICS_PORT")
tcptunectl=("${TEST_BUILD-}/tcptunectl" --socket="${TEST_DIR-}/run/control")
[ -z "${TEST_DIR-}" ] || : >"$TEST_DIR/none.conf"

# Starts the daemon for the processes of in_group. Later options prevail. A test that ends well with a
# daemon stops it, and it has to exit with 0.
tcptuned_start() { # [OPTION...]
	background tcptuned ${TCPTUNED_PREFIX-} setpriv --ruid="$TEST_UID" "$TEST_BUILD/tcptuned" \
		"${daemon_options[@]}" "$@"
	wait_until or_ended tcptuned curl -sf -o "$TEST_DIR/page" "$METRICS/"
	! has_ended tcptuned || fail "tcptuned: $(cat "$TEST_DIR/tcptuned.log")"
}

tcptuned_stop() {
	stop tcptuned
}

ctl() {
	"${tcptunectl[@]}" "$@"
}

# jq 1.6 takes 14 ms to start, gojq 2.
[ -z "$(type -P gojq)" ] || jq() { gojq "$@"; }

ctl_json() { # JQ_FILTER ARGUMENT...
	ctl "${@:2}" --json | jq -cr "$1"
}

# Keeps the metrics of now in $TEST_DIR/scrape. The daemon repeats an answer for a second, unless
# tcptunectl has asked for something.
scrape() {
	ctl status >/dev/null || :
	curl -sf -o "$TEST_DIR/scrape" "$METRICS/metrics"
}

metric() { # NAME[{LABELS}]
	scrape && awk -v name="$1" '$1 == name { print $2; exit }' "$TEST_DIR/scrape"
}

flow() { # LOCAL_PORT JQ_FILTER
	ctl_json "first(.flows[]) | $2" flows --local-port "$1"
}

flow_to() { # REMOTE_PORT JQ_FILTER
	ctl_json "first(.flows[]) | $2" flows --remote-port "$1"
}
