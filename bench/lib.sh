# SPDX-License-Identifier: GPL-2.0-only
#
# What measurements share, on top of tests/system/lib.sh.
#
#	$path			linkem's options for the link from host a to host b
#	row BENCH X COLUMN FUNCTION [ARG...]	measures once and appends a line to $BENCH_RESULTS:
#				a result, or that there is none since linkem was three times late
#	plain_row BENCH X COLUMN COMMAND...	the same of what is measured without linkem
#	measured BENCH X COLUMN	is that there already, valid and from this commit? Neither row
#				measures it again then
#	$run			counts the repetitions from 0; its seed is one more, or as much as
#				BENCH_SEED says more
#	$run_seconds		how long a run is, for rows of which BENCH_SECONDS decides it
#	seconds_of FULL SHORT	BENCH_SECONDS, or else what the profile has (BENCH_GRID)
#	untuned [MESSAGES OPTION...]		a transfer without tcptuned
#	with_room COMMAND...	with sysctls that let an application's SO_*BUF be honoured up to 64 MB
#	taught [MESSAGES OPTION...]		an untuned transfer after another one, of $learn seconds
#	with_maxima COMMAND...	with tcp_rmem and tcp_wmem of up to 64 MB on hosts a and b
#	keeping_maxima COMMAND...	these are what they were afterwards, whatever the command makes of them
#	tuned [KEY=VALUE...] -- [MESSAGES OPTION...]	both hosts run tcptuned
#	tuned_receiver, tuned_sender		only that one does
#	finish NAME		waits for a process of background that ends by itself
#	each_path COMMAND...	calls it for each repetition and each line "X|LINKEM OPTION..." of standard
#				input, with $run, $x and $path, to which these are added

LINK_TOLERANCE=${BENCH_TOLERANCE:-1}
LINK_SECONDS=$((600 + ${BENCH_SECONDS:-600}))

finish() { # NAME
	wait "$(pid_of "$1")" || fail "$1: $(tail -c 300 "$TEST_DIR/$1.log")"
	unset "LIB_PID[$1]"
}

each_path() { # COMMAND...
	local run x path lines line common=${path-}
	mapfile -t lines
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for line in "${lines[@]}"; do
			x=${line%%|*} path="$common ${line#*|}"
			"$@"
		done
	done
}

half() {
	awk "BEGIN { print $1 / 2 }"
}

run_seed() {
	echo $((${run:-0} + ${BENCH_SEED:-1}))
}

seconds_of() { # FULL SHORT
	local seconds=$2
	[ "${BENCH_GRID:-short}" != full ] || seconds=$1
	echo "${BENCH_SECONDS:-$seconds}"
}

untuned() {
	link a b --seed "$(run_seed)" $path
	transfer a b --rtt-samples "$@" >/dev/null
}

with_room() {
	local rmem wmem
	rmem=$(sysctl -n net.core.rmem_max)
	wmem=$(sysctl -n net.core.wmem_max)
	sysctl -qw net.core.rmem_max=67108864 net.core.wmem_max=67108864
	"$@"
	sysctl -qw net.core.rmem_max="$rmem" net.core.wmem_max="$wmem"
}

# The second connection to a host whose path the first one has taught, in $learn seconds where that is set.
taught() { # MESSAGES OPTION...
	untuned "$@" ${learn:+--duration $learn}
	link_end a b || :
	untuned "$@"
}

with_maxima() {
	keeping_maxima raise_maxima "$@"
}

raise_maxima() {
	local name
	for name in a b; do
		in_host $name sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 16384 67108864"
	done
	"$@"
}

keeping_maxima() {
	local at_a at_b names=(net.ipv4.tcp_rmem net.ipv4.tcp_wmem)
	mapfile -t at_a < <(in_host a sysctl "${names[@]}")
	mapfile -t at_b < <(in_host b sysctl "${names[@]}")
	"$@"
	in_host a sysctl -qw "${at_a[@]/ = /=}"
	in_host b sysctl -qw "${at_b[@]/ = /=}"
}

# SIDES (SENDER and RECEIVER, in any mixture) [KEY=VALUE...] -- COMMAND...
with_tcptuned() {
	local sides=$1 sets=()
	shift
	while [ "$1" != -- ]; do
		sets+=("--set=$1")
		shift
	done
	shift
	# each row is a connection to an unknown path, unless it says otherwise
	tcptuned_start --set=paths.remember=no "${sets[@]}"
	[[ $sides != *sender* ]] || local SENDER_PREFIX=in_group
	[[ $sides != *receiver* ]] || local RECEIVER_PREFIX=in_group
	"$@"
	tcptuned_stop
}

# SIDES [KEY=VALUE...] -- [MESSAGES OPTION...]
tuned_sides() {
	local i=1
	while [ "${!i}" != -- ]; do
		i=$((i + 1))
	done
	with_tcptuned "${@:1:i}" untuned "${@:i + 1}"
}

tuned() {
	tuned_sides sender,receiver "$@"
}

tuned_receiver() {
	tuned_sides receiver "$@"
}

tuned_sender() {
	tuned_sides sender "$@"
}

# Where the host has another default, a network namespace gets cubic only while the host allows it.
cubic_by_default() { # HOST...
	local allowed name
	allowed=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$allowed cubic"
	for name; do
		in_host "$name" sysctl -qw net.ipv4.tcp_congestion_control=cubic || :
	done
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$allowed"
	for name; do
		expect_eq "$(in_host "$name" sysctl -n net.ipv4.tcp_congestion_control)" cubic "default of $name"
	done
}

# --- rows ----------------------------------------------------------------------------------
rows() { # FUNCTION [ARG...]; of rows.py
	RUN_SEED=$(run_seed) RUN_SECONDS=${run_seconds-} "$TEST_TOP/bench/rows.py" "$@"
}

# Replaces transfer.json by what a function of rows.py makes of it.
reduce() { # FUNCTION [ARG...]
	rows "$@" >"$TEST_DIR/reduced.json"
	mv "$TEST_DIR/reduced.json" "$TEST_DIR/transfer.json"
}

# Alone on the machine, as far as others take the same lock.
measure() {
	[ -n "${BENCH_LOCK-}" ] || { "$@"; return; }
	exec 9>"$BENCH_LOCK"
	flock 9
	"$@"
	exec 9>&-
}

# A commit that is dirty is not known well enough.
measured() { # BENCH X COLUMN
	[ -s "$BENCH_RESULTS" ] && [[ ${BENCH_COMMIT:--dirty} != *-dirty ]] || return 1
	rows is_measured "$@" "$LINK_TOLERANCE" || return 1
	echo "$1 $2, $3, seed $(run_seed): there already" >>"${BENCH_PROGRESS:-/dev/null}"
}

plain_row() { # BENCH X COLUMN COMMAND...
	local bench=$1 x=$2 column=$3
	shift 3
	if ! measured "$bench" "$x" "$column"; then
		measure "$@"
		rows add "$bench" "$x" "$column"
	fi
}

# How often a receiver that was short of room packed its queues or dropped from them, so far.
prunes() {
	local name
	for name in "${!ADDR[@]}"; do
		in_host "$name" cat /proc/self/net/netstat
	done | awk '/^TcpExt:/ {
			if ($2 !~ /^[0-9]/) { split($0, name); next }
			for (i = 2; i <= NF; i++)
				if (name[i] ~ /^(PruneCalled|RcvPruned|OfoPruned|TCPRcvCollapsed|TCPRcvQDrop)$/)
					sum += $i
		}
		END { print sum + 0 }'
}

row() {
	local bench=$1 x=$2 column=$3 try before
	shift 3
	! measured "$bench" "$x" "$column" || return 0
	for try in 1 2 3; do
		before=$(prunes)
		measure "$@"
		if lib_end_links; then
			rows add "$bench" "$x" "$column" link-a-b.json $try $(($(prunes) - before))
			return
		fi
		note "run $try of $bench $x, $column: not valid"
	done
	rows add "$bench" "$x" "$column" link-a-b.json
}

# --- many connections ----------------------------------------------------------------------
# hold_connections COUNT HOST...: open, both ends here, until the end of the test; each has carried 128 KiB
# each way, so that it gets a record; by ten processes in each host, for what one of them may open is limited
hold_connections() {
	local count=$1 i name
	shift
	for i in $(seq 10); do
		for name in "$@"; do
			background "$name-$i" in_group in_host "$name" "${keep_alive[@]}" pairs \
				$((count / 10 / $#)) $((7200 + i)) 131072
		done
	done
	for i in $(seq 10); do
		for name in "$@"; do
			wait_printed "$name-$i" open
		done
	done
}
