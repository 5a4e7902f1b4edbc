# SPDX-License-Identifier: GPL-2.0-only
#
# Random links and applications, and some that are not: the kernel's defaults (cubic), BBR at the sender, and tcptuned at
# both ends. The number of a cell is the seed of all that is drawn for it (field.py), so that BENCH_SEED=17
# BENCH_CELLS=1 measures cell 17 again.

. "$TEST_TOP/bench/lib.sh"

bench_random() {
	local run cell i run_seconds=${BENCH_SECONDS:-20} first=${BENCH_SEED:-1} variants=(kernel bbr tcptuned)
	local BENCH_SEED drawn path kind application x column
	host a b c d
	cubic_by_default a b c d
	random_join a c 10.98.0
	random_join b d 10.98.1
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for ((cell = first; cell < first + ${BENCH_CELLS:-60}; cell++)); do
			BENCH_SEED=$cell drawn=$("$TEST_TOP/bench/field.py" draw $cell $run_seconds)
			IFS=$'\t' read -r path kind application x < <(
				jq -r '[.path, .kind, .application, .x] | @tsv' <<<"$drawn")
			for i in 0 1 2; do # each is the first one in a third of the cells
				column=${variants[(cell + run + i) % 3]}
				row random "$x" $column random_measure
			done
		done
	done
}

# Cases that need care of their own. Of a bulk connection that is "later" the seconds before that do not count.
bench_everyday() {
	local run_seconds=${BENCH_SECONDS:-30} column kind drawn={}
	host a b
	cubic_by_default a b
	each_path everyday_rows <<-END
		beside an upload, 100/5 Mbit/s, 50 ms|later 10|--rate-ab 100mbit --rate-ba 5mbit --delay 25ms --queue 625KB
		reads 4 MiB at a time, 20 Mbit/s, 50 ms|batches 4194304|--rate 20mbit --delay 25ms --queue 1MB
		live, SO_SNDBUF of 32 KB, 3 Mbit/s, 40 ms, 10 to 1.5 Mbit/s|live 12500 0.0333 32768|--rate 10mbit --delay 20ms --queue 100KB --schedule 10s:1.5mbit:,20s:10mbit:
		live, SO_SNDBUF of 32 KB, 9.6 over 8 Mbit/s, 50 ms|live 40000 0.0333 32768|--rate 8mbit --delay 25ms --queue 400KB
		50 ms after a handshake of 20, then 8 to 32 Mbit/s|later 12|--rate 8mbit --delay 10ms --queue 1MB --schedule 0.1s::25ms,10s:32mbit:
	END
}

everyday_rows() {
	local application=${path%%|*} path=${path#*|}
	kind=plain
	[[ $x != *upload* ]] || kind=upload
	for column in kernel bbr tcptuned; do
		row everyday "$x" $column random_measure
	done
}

# Hosts c and d are behind a and b.
random_join() { # HOST NEIGHBOUR NETWORK
	in_host $1 ip link add name to-$2 type veth peer name eth0 netns "$(lib_netns $2)"
	in_host $1 ip address add $3.1/24 dev to-$2
	in_host $2 ip address add $3.2/24 dev eth0
	in_host $1 ip link set to-$2 up
	in_host $2 ip link set eth0 up
	in_host $2 ip route add default via $3.1
	in_host $1 sysctl -qw net.ipv4.ip_forward=1
}

random_measure() { # of $column
	case $column in
	bbr) random_transfer bbr ;;
	tcptuned | "tcptuned, cubic") with_tcptuned sender,receiver -- random_transfer default ;;
	"tcptuned, bitcp") with_tcptuned sender,receiver policy.congestion_control=bitcp -- random_transfer default ;;
	kernel*) random_transfer default ;;
	esac
}

random_transfer() { # CONTROL
	local ends=(ours-to ours-from) end
	link a b --seed "$(run_seed)" $path
	[[ $kind != @(shared|upload) ]] || ends+=(neighbour-to neighbour-from)
	case $kind in
	shared)
		in_host a ip route add 10.98.1.0/24 dev tun0
		in_host b ip route add 10.98.0.0/24 dev tun0
		random_begin neighbour "in_host c" "in_host d" 10.98.1.2 $((run_seconds + 4)) cubic bulk
		sleep 3 # it has left slow start when ours begins, and outlasts it
		;;
	upload)
		random_begin neighbour "${RECEIVER_PREFIX-} in_host b" "${SENDER_PREFIX-} in_host a" "${ADDR[a]}" $run_seconds \
			$1 bulk
		;;
	esac
	random_begin ours "${SENDER_PREFIX-} in_host a" "${RECEIVER_PREFIX-} in_host b" "${ADDR[b]}" $run_seconds $1 \
		$application
	for end in "${ends[@]}"; do
		finish $end
	done
	(cd "$TEST_DIR" && tail -qn 1 "${ends[@]/%/.log}") | jq -cs --argjson drawn "$drawn" \
		'$drawn + .[0] + .[1] + {neighbour_mbps: ((.[2].goodput_bps // 0) / 1e6)}' >"$TEST_DIR/transfer.json"
}

random_begin() { # NAME SENDER_PREFIX RECEIVER_PREFIX ADDRESS SECONDS CONTROL APPLICATION...
	background "$1-to" $3 "$TEST_TOP/bench/field.py" receive $4 7000 $5 "${@:7}"
	wait_printed "$1-to" listening
	background "$1-from" $2 "$TEST_TOP/bench/field.py" send $4 7000 $6 "${@:7}"
}

# An application that asks for an amount each 2.5 s: all answers but the first come after a pause.
bench_pauses() {
	local run mbit ms bytes path application column run_seconds=${BENCH_SECONDS:-16} kind=plain drawn={}
	host a b
	cubic_by_default a b
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for mbit in ${BENCH_MBIT:-100 1000}; do
			for ms in ${BENCH_RTTS:-20 50 100}; do
				for bytes in 1000000 10000000; do
					path="--rate ${mbit}mbit --delay $((ms * 500))us --queue 1bdp"
					application="answers $bytes 2.5"
					for column in kernel "kernel, no restart" bbr "tcptuned, cubic" "tcptuned, bitcp"; do
						row pauses "$mbit Mbit/s, $ms ms, $((bytes / 1000000)) MB" "$column" pauses_measure
					done
				done
			done
		done
	done
}

pauses_measure() {
	local after_idle=1
	[ "$column" != "kernel, no restart" ] || after_idle=0
	in_host a sysctl -qw net.ipv4.tcp_slow_start_after_idle=$after_idle
	random_measure
}
