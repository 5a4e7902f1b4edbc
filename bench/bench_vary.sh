# SPDX-License-Identifier: GPL-2.0-only
#
# Links that vary, and neighbours that come and go: the paths on which a window held at a multiple
# of the smallest round trip may be too small, or too large for a time. Both ends run tcptuned unless
# a column says otherwise, and senders are cubic.

. "$TEST_TOP/bench/lib.sh"

keep="policy.congestion_control=keep"

vary_hosts() {
	host a b
	run_seconds=${BENCH_SECONDS:-20}
}

vary_options() {
	echo "--duration $run_seconds --stall 60 --rtt-samples --series 50"
}

# vary_columns BENCH FIGURES [COLUMN...]: a row of $x each; FIGURES: a function of rows.py and its arguments
# The sender's kernel has its own maximum, but for a column with 64 MB.
vary_columns() {
	local bench=$1 figures=$2 column command bytes
	shift 2
	for column; do
		bytes=4194304
		[[ $column != *"64 MB" ]] || bytes=67108864
		in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 $bytes"
		case $column in
		kernel | "kernel, 64 MB") command=(untuned --congestion cubic) ;;
		bbr | "bbr, 64 MB") command=(untuned --congestion bbr) ;;
		"tcptuned, bbr") command=(tuned $keep -- --congestion bbr) ;;
		"tcptuned, cubic") command=(tuned $keep -- --congestion cubic) ;;
		"tcptuned, auto") command=(tuned policy.congestion_control=auto --) ;;
		"tcptuned, again") command=(tuned_again) ;;
		"tcptuned, receiver") command=(tuned_receiver $keep -- --congestion cubic) ;;
		"tcptuned, sender") command=(tuned_sender $keep -- --congestion cubic) ;;
		*) fail "there is no column $column" ;;
		esac
		row "$bench" "$x" "$column" vary_measure "$figures" "${command[@]}" \
			${streams:+--streams $streams} $(vary_options)
	done
}

# The second connection to a host whose path the first one has taught.
tuned_again() { # MESSAGES OPTION...
	rm -rf "$TEST_DIR/state"
	with_tcptuned sender,receiver policy.congestion_control=auto paths.remember=yes -- taught "$@"
}

vary_measure() { # FIGURES COMMAND...
	local figures=$1
	shift
	"$@"
	reduce $figures
}

# Delay that is drawn again and again, from the sender to the receiver.
bench_jitter() {
	local run_seconds path="--queue 4MB"
	vary_hosts
	each_path vary_columns jitter vary kernel bbr "tcptuned, cubic" <<-END
		100 Mbit/s, 20 ms, +0..80 ms each 20 ms|--rate 100mbit --delay 10ms --jitter-ab uniform=80ms,every=20ms
		300 Mbit/s, 5 ms, +0..40 ms each 5 ms|--rate 300mbit --delay 2500us --jitter-ab uniform=40ms,every=5ms
		300 Mbit/s, 5 ms, +0..20 ms each 5 ms|--rate 300mbit --delay 2500us --jitter-ab uniform=20ms,every=5ms
		100 Mbit/s, 20 ms, exponential of 40 ms each 20 ms|--rate 100mbit --delay 10ms --jitter-ab exponential=40ms
		100 Mbit/s, 20 ms, +60 ms half of each 200 ms|--rate 100mbit --delay 10ms --jitter-ab onoff=60ms:100ms:200ms
	END
}

# Losses in bursts, segments out of order, congestion marks instead of losses, and a policer.
bench_impaired() {
	local run_seconds path="--delay 10ms --queue 4MB"
	vary_hosts
	in_host a sysctl -qw net.ipv4.tcp_ecn=1
	each_path vary_columns impaired vary kernel "tcptuned, cubic" "tcptuned, receiver" "tcptuned, sender" <<-END
		200 Mbit/s, 20 ms, losses in bursts|--rate 200mbit --loss-bursts-ab 0.0001:0.3
		200 Mbit/s, 20 ms, 1 % out of order|--rate 200mbit --reorder-ab 0.01:5ms
		200 Mbit/s, 20 ms, marks from half a BDP|--rate 200mbit --mark-ab 0.5bdp
		1 Gbit/s, 20 ms, policed to 100 Mbit/s|--rate 1gbit --police-ab 100mbit:500KB
	END
}

# Losses that no queue causes, and others at about the RTT of an empty path, alone and next to a connection that is not
# tuned. tcptuned as shipped; sender and receiver with 64 MB, as BBR at 1 Gbit/s and 100 ms needs.
bench_random_loss() {
	local run_seconds=${BENCH_SECONDS:-30} keys=policy.congestion_control=auto path="--rate 1gbit --delay 50ms"
	host a b
	cubic_by_default a b
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864"
	each_path vary_random_loss <<-END
		losses of 1e-4|--queue 1bdp --loss-ab 1e-4
		losses of 1e-5|--queue 1bdp --loss-ab 1e-5
		a queue of 25 packets|--queue 25p
		policed to 100 Mbit/s|--queue 4MB --police-ab 100mbit:500KB
		RED|--queue 1bdp --red-ab auto
	END
}

vary_random_loss() {
	local other=untuned:cubic:$run_seconds
	vary_columns random_loss vary "kernel, 64 MB" "bbr, 64 MB" "tcptuned, auto" "tcptuned, again"
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	vary_pair random_loss_shared "$x" 100 "cubic, cubic" $other $other
	vary_pair random_loss_shared "$x" 100 "auto, cubic" tuned:default:$run_seconds $other
}

# The path becomes longer at half time. What is read in the five seconds that begin a second later, and after ten.
bench_longer() {
	local run_seconds change
	vary_hosts
	change=$(half "$run_seconds")
	each_path vary_columns longer "longer $change" kernel "tcptuned, cubic" <<-END
		200 Mbit/s, 10 to 100 ms|--rate 200mbit --delay 5ms --queue 8MB --schedule-ab ${change}s::95ms
		50 Mbit/s, 20 to 30 ms|--rate 50mbit --delay 10ms --queue 2500KB --schedule-ab ${change}s::20ms
		50 Mbit/s, 20 to 40 ms|--rate 50mbit --delay 10ms --queue 2500KB --schedule-ab ${change}s::30ms
		50 Mbit/s, 20 to 48 ms|--rate 50mbit --delay 10ms --queue 2500KB --schedule-ab ${change}s::38ms
		50 Mbit/s, 20 to 80 ms|--rate 50mbit --delay 10ms --queue 2500KB --schedule-ab ${change}s::70ms
	END
}

# The link becomes 64 times as slow after a quarter of the time.
bench_slower() {
	local run_seconds change
	vary_hosts
	change=$(half "$(half "$run_seconds")")
	each_path vary_columns slower slower kernel "tcptuned, cubic" <<-END
		1 Gbit/s, 10 ms, to 15.6 Mbit/s|--rate 1gbit --delay 5ms --queue 20MB --schedule-ab ${change}s:15625kbit:
	END
}

# Recorded rates (TCPTUNED_TRACES).
bench_lte() {
	local run_seconds trace traces=${TCPTUNED_TRACES:-$TEST_TOP/../shared/traces}
	[ -d "$traces" ] || skip "no traces: TCPTUNED_TRACES names a directory of mahimahi's"
	vary_hosts
	each_path vary_columns lte vary kernel bbr "tcptuned, cubic" < <(
		for trace in "$traces"/*; do
			echo "${trace##*/}|--trace-ab $trace --delay 20ms --queue 1500KB"
		done
	)
}

# Several that begin together, and share a deep queue.
bench_several() {
	local run x run_seconds
	vary_hosts
	path="--rate 1gbit --delay 5ms --queue 20MB"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for x in ${BENCH_STREAMS:-1 2 4 8}; do
			streams=$x vary_columns several vary kernel "kernel, 64 MB" bbr "tcptuned, cubic"
		done
	done
}

# The same half a second after one another: all but the first have never seen the queue empty.
bench_one_by_one() {
	local run run_seconds apart=0.5 streams flows kind
	vary_hosts
	path="--rate 1gbit --delay 5ms --queue 20MB"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for streams in ${BENCH_STREAMS:-2 4 8}; do
			for kind in cubic bbr; do
				flows=$(printf "untuned:$kind:$run_seconds %.0s" $(seq $streams))
				row one_by_one $streams ${kind/cubic/kernel} vary_flows 10 $flows
			done
			flows=$(printf "tuned:cubic:$run_seconds %.0s" $(seq $streams))
			row one_by_one $streams "tcptuned, cubic" with_tcptuned neither $keep -- vary_flows 10 $flows
		done
	done
}

# Eight seconds in a deep queue.
bench_first_seconds() {
	local run_seconds=8
	host a b
	each_path vary_columns first_seconds first_seconds kernel "kernel, 64 MB" bbr "tcptuned, cubic" \
		"tcptuned, bbr" <<-END
		1 Gbit/s, 10 ms, 20 MB|--rate 1gbit --delay 5ms --queue 20MB
		100 Mbit/s, 20 ms, 4 MB|--rate 100mbit --delay 10ms --queue 4MB
		300 Mbit/s, 40 ms, 16 MB|--rate 300mbit --delay 20ms --queue 16MB
	END
}

# Many senders to one receiver in a data centre: 64 answers of 256 KiB at once, again and again.
bench_incast() {
	local run column command
	vary_hosts
	path="--rate 1gbit --delay 250us --queue 128p"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for column in kernel tcptuned; do
			command=(untuned)
			[ $column = kernel ] || command=(tuned $keep --)
			row incast "64 x 4 MiB" $column "${command[@]}" --streams 64 --count 1024 \
				--bytes 256KiB --congestion cubic
		done
	done
}

# --- competing connections -------------------------------------------------------------------
# vary_flows RTT_MS tuned|untuned:CONTROL:SECONDS...	connections that begin together, or $apart s after one
# another, each of its own for so long; of tuned ones both ends run tcptuned. The row is that of all; "flows" has each, over
# the time that they share, from the second $count_after of it on.
vary_flows() {
	local rtt_ms=$1 i=0 spec
	shift
	link a b --seed "$(run_seed)" --judge-after "${count_after:-0}" $path
	for spec; do
		i=$((i + 1))
		vary_receiver $i ${spec//:/ }
	done
	for ((i = 1; i <= $#; i++)); do
		vary_sender $i ${!i//:/ }
		[ -z "${apart-}" ] || sleep "$apart"
	done
	for ((i = 1; i <= $#; i++)); do
		finish flow-$i
		stop "to-$i" || :
	done
	reduce neighbours $rtt_ms "${count_after:-0}" "${@##*:}"
}

# To enter a cgroup takes as long as a round trip: who starts later is smaller in the queue for long.
vary_prefix() { # tuned|untuned
	[ "$1" = tuned ] && echo in_group || echo in_beside
}

vary_receiver() { # NUMBER tuned|untuned CONTROL SECONDS
	listener "to-$1" "$(vary_prefix $2) in_host b" --listen "${ADDR[b]}" --port $((7100 + $1)) --series 50 \
		--rtt-samples --duration $4 --stall 60
}

vary_sender() { # NUMBER tuned|untuned CONTROL SECONDS
	background "flow-$1" $(vary_prefix $2) in_host a "$TEST_BUILD/messages" \
		--connect "${ADDR[b]}" --port $((7100 + $1)) --series 50 --rtt-samples \
		--duration $4 --stall 60 $([ "$3" = default ] || echo --congestion "$3")
}

# COLUMN: the first one and its neighbour
vary_pair() { # BENCH X RTT_MS COLUMN FIRST SECOND
	local flows=(vary_flows $3 $5 $6)
	if [[ "$5 $6" == *"untuned"*"untuned"* ]]; then
		row "$1" "$2" "$4" "${flows[@]}"
	else
		row "$1" "$2" "$4" with_tcptuned neither ${keys-$keep} -- "${flows[@]}"
	fi
}

# A tuned connection and one that is not, and two that are not. In `leaves`, the neighbour ends after a
# third of the time.
bench_neighbour() {
	local run run_seconds x rtt_ms
	vary_hosts
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for x in "1 Gbit/s, 10 ms, 20 MB" "100 Mbit/s, 20 ms, 1 MB"; do
			case $x in
			1*Gbit*) rtt_ms=10 path="--rate 1gbit --delay 5ms --queue 20MB" ;;
			*) rtt_ms=20 path="--rate 100mbit --delay 10ms --queue 1MB" ;;
			esac
			vary_neighbours neighbour $run_seconds $run_seconds
			vary_neighbours leaves $((3 * run_seconds / 2)) "$(half $run_seconds)"
		done
	done
}

vary_neighbours() { # BENCH SECONDS SECONDS; of the first and of its neighbour
	vary_pair $1 "$x" $rtt_ms kernel untuned:cubic:$2 untuned:cubic:$3
	vary_pair $1 "$x" $rtt_ms "tcptuned, cubic" tuned:cubic:$2 untuned:cubic:$3
}

# A connection of tcptuned as shipped (auto: cubic, or bitcp while a long path has room), and one of another kind that
# is not tuned; each kind and its own; and BBR next to cubic, neither of them tuned.
bench_peace() {
	local run run_seconds mbps rtt_ms queue kind x keys=policy.congestion_control=auto
	vary_hosts
	cubic_by_default a
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for mbps in ${BENCH_MBPS:-20 100 1000}; do
			for rtt_ms in ${BENCH_RTTS:-20 100}; do
				for queue in ${BENCH_QUEUE:-0.5bdp 1bdp 4bdp}; do
					vary_peace "$mbps Mbit/s, $rtt_ms ms, $queue"
				done
			done
		done
	done
}

vary_peace() { # X
	local other
	path="--rate ${mbps}mbit --delay $(half $rtt_ms)ms --queue $queue"
	for kind in ${BENCH_CONTROLS:-cubic bbr}; do
		other=untuned:$kind:$run_seconds
		vary_pair peace "$1" $rtt_ms "$kind, $kind" $other $other
		vary_pair peace "$1" $rtt_ms "auto, $kind" tuned:default:$run_seconds $other
		[ $kind = cubic ] ||
			vary_pair peace "$1" $rtt_ms "cubic, $kind" untuned:cubic:$run_seconds $other
	done
}

# bitcp from the handshake on next to another kind that is not tuned, in either order, and two of that
# kind, all with buffers of up to 64 MB. The second half of the time counts.
bench_peace_bitcp() {
	local run run_seconds count_after queue kind x ours other keys=policy.congestion_control=bitcp
	vary_hosts
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864"
	cubic_by_default a
	run_seconds=${BENCH_SECONDS:-60} count_after=$(half "${BENCH_SECONDS:-60}")
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for queue in ${BENCH_QUEUE:-0.5bdp 1bdp 4bdp}; do
			x="1000 Mbit/s, 100 ms, $queue" path="--rate 1gbit --delay 50ms --queue $queue"
			for kind in ${BENCH_CONTROLS:-cubic bbr}; do
				ours=tuned:default:$run_seconds other=untuned:$kind:$run_seconds
				vary_pair peace_bitcp "$x" 100 "bitcp, $kind" $ours $other
				vary_pair peace_bitcp "$x" 100 "$kind, bitcp" $other $ours
				vary_pair peace_bitcp "$x" 100 "$kind, $kind" $other $other
			done
		done
	done
}
