# SPDX-License-Identifier: GPL-2.0-only
# The configuration decides about later connections, the application and the route where they choose
# a congestion control, the administrator by a sysctl. mode = off and --observe change nothing.

. "$TEST_TOP/tests/system/daemon.sh"

# Prints the congestion controls of both ends of a connection over loopback of host a, "server client".
# LISTENER_STEPS come after accept.
choice() { # IN_GROUP LISTENER_STEPS CLIENT_STEPS
	GROUP=$1 application chooser a tcp4 listen 127.0.0.1 7001 accept $2 get congestion
	$1 in_host a "${sockets[@]}" tcp4 $3 connect 127.0.0.1 7001 get congestion >"$TEST_DIR/out"
	wait "$(pid_of chooser)"
	sed -n 's/^congestion //p' "$TEST_DIR/chooser.log" "$TEST_DIR/out" | tr '\n' ' '
}

test_congestion_control_of_new_connections() {
	local pair
	CONGESTION=reno host a
	expect_eq "$(choice in_group "" "")" "reno reno " "without tcptuned"
	tcptuned_start $bitcp
	expect_eq "$(choice in_group "" "")" "bitcp bitcp " "by policy"
	expect_eq "$(choice "" "" "")" "reno reno " "of processes elsewhere"
	expect_eq "$(choices set)" 2 "choices made"
	expect_eq "$(choices kept)" 0 "choices kept"
	# An application may choose what the kernel would have chosen, too.
	expect_eq "$(choice in_group "" "set congestion cubic")" "bitcp cubic " "client's own"
	expect_eq "$(choice in_group "" "set congestion reno")" "bitcp reno " "client's own"
	expect_eq "$(choice in_group "set congestion cubic" "")" "cubic bitcp " "server's own"
	expect_eq "$(choices kept)" 2 "choices kept" # the server's came after tcptuned's
	in_host a ip route change local 127.0.0.1 dev lo table local congctl cubic
	expect_eq "$(choice in_group "" "")" "cubic cubic " "the route's, at both ends"
	in_host a ip route change local 127.0.0.1 dev lo table local
	expect_eq "$(choice in_group "" "")" "bitcp bitcp " "without that route"
	expect_eq "$(choices refused)" 0 "choices refused"
	tcptuned_stop
	expect_eq "$(choice in_group "" "")" "reno reno " "after tcptuned"
	for pair in keep:reno cubic:cubic nonesuch:reno; do
		tcptuned_start --set=policy.congestion_control=${pair%:*}
		expect_eq "$(choice in_group "" "")" "${pair#*:} ${pair#*:} " "policy: ${pair%:*}"
		[ ${pair%:*} != nonesuch ] ||
			in_log 'warning: policy.congestion_control: this kernel offers no nonesuch.*and has no module'
		tcptuned_stop
	done
}

# auto chooses nothing on a path that becomes eight times faster, and so has room (room.h), if it is not as long as the
# threshold, or if the default is not the kernel's built-in one: 320 Mbit/s and 40 ms are 1100 segments.
auto_leaves() { # DEFAULT THRESHOLD
	host a b
	# A sender that waits for a processor is not one that paused.
	in_host a sysctl -qw net.ipv4.tcp_congestion_control="$1" net.ipv4.tcp_slow_start_after_idle=0
	tcptuned_start --set=policy.long_path_segments="$2" --set=paths.remember=no
	link a b --rate 40mbit --delay 20ms --queue 1bdp --schedule-ab 2s:320mbit:
	stream one 7101 --duration 280
	stream own 7102 --duration 280 --congestion reno
	wait_output -ge 60000000 flow_to 7101 .bytes_acked
	expect_eq "$(auto_made 7101)" "[\"$1\",false]" "the default"
	expect_eq "$(auto_made 7102)" '["reno",false]' "the application's own"
	expect_eq "$(choices set) $(choices refused)" "0 0" "choices set, refused"
	stream_stop one own
}

auto_made() { # PORT
	flow_to "$1" '[.congestion_control, (.flags | index("congestion_control_set") != null)]'
}

test_auto_on_a_path_that_is_not_long() {
	auto_leaves "$(built_in)" 3000
}

test_auto_leaves_bbr() {
	grep -qw bbr /proc/sys/net/ipv4/tcp_available_congestion_control ||
		for_another_host "this kernel has no bbr"
	auto_leaves bbr 40
}

# cubic, where the host allows it in a network namespace.
built_in() {
	sysctl -en net.ipv4.tcp_{,allowed_}congestion_control | grep -ow cubic | sort -u | grep . ||
		echo reno
}

# Any process may choose bitcp: without privilege, in a network namespace of its own, in a
# control group that tcptuned does not manage; and as the default of that namespace.
test_any_process_may_choose_bitcp() {
	run_sockets_as_nobody
	CONGESTION=reno host a
	expect_match "$(choice "" "" "set congestion bitcp")" "reno reno " "without tcptuned"
	tcptuned_start
	expect_eq "$(choice "" "" "set congestion bitcp")" "reno bitcp " "chosen"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	expect_eq "$(choice "" "" "")" "bitcp bitcp " "by the namespace's default"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
}

# A stop restores the congestion control of a connection in its handshake, too.
test_half_open_at_the_stop() {
	local before
	before=$(sysctl -n net.ipv4.tcp_congestion_control)
	host a b
	link a b --rate 100mbit --delay 5ms
	in_host a ip route add 10.98.0.1/32 dev tun0 # no host answers
	tcptuned_start $bitcp
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp # as a namespace made now has it
	application client a tcp4 connect 10.98.0.1 7001
	wait_until half_open bitcp
	tcptuned_stop
	half_open "$before" || fail "$(in_host a ss -tanmioe dst 10.98.0.1)"
}

half_open() { # CONGESTION_CONTROL
	[ "$(ss_of a "dst 10.98.0.1" " ($1) ")" = "$1" ]
}

# Sets $share to ssthresh by the maximum window that a bitcp flow reached. Fails while there is no ssthresh, or while
# the maximum is so small that rounding to whole segments takes more than 0.05 of it. Of less than low_window, 14
# segments, half is left and the maximum stays.
lossy() { # PORT
	share=$(ctl flows --json --remote-port "$1" | jq -er "first(.flows[]
		| select((.bitcp.max_segments // 0) >= 20 and .ssthresh_segments >= 7)
		| .ssthresh_segments / .bitcp.max_segments | select(. < 1))")
}

# beta decides what is left of the window at a loss.
test_bitcp_parameters() {
	configured_path '' --rate 100mbit --delay 10ms --queue 0.3bdp
	# A sender that waits for a processor is not one that paused.
	in_host a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	stream gentle 7101 --duration 280
	wait_until lossy 7101
	# 1 - 0.125; more after a loss below the last maximum (fast convergence)
	expect_ge "$share" 0.85 "share of the window kept, beta = 0.125"
	reload '[bitcp]\nbeta = 0.5\n' 'bitcp.beta: 0.125 -> 0.5'
	stream harsh 7102 --duration 280
	sleep 1
	wait_until lossy 7102
	# 1 - 0.5, or 1 / 1.5 with fast convergence; 3/4 of at most the maximum if a timeout was undone
	# (tcp_current_ssthresh()); and rounding
	expect_between "$share" 0.45 0.8 "share of the window kept, beta = 0.5"
	wait_until lossy 7101
	expect_ge "$share" 0.85 "of the connection that was there before"
	stream_stop gentle harsh
}

flow_says() { # PORT
	flow "$1" '[.congestion_control, .receive.window_max_bytes, .send.window_max_bytes]'
}

# A connection that has carried enough for a record.
stream_on() { # NAME PORT
	stream "$1" "$2" --duration 280
	wait_until arrived "$2" 1M
}

test_reload_is_for_new_connections() {
	local first='["bitcp",8388608,9437184]'
	configure '[policy]\ncongestion_control = bitcp\nreceive_window_max = 8M\nsend_window_max = 9M\n'
	CONGESTION=reno tuned_path --config="$TEST_DIR/my.conf" --rate 100mbit --delay 2ms
	stream_on one 7101
	expect_eq "$(flow_says 7101)" "$first" "before the reload"

	# The good lines before a bad one do not take effect.
	reload '[policy]\ncongestion_control = cubic\n[bitcp]\nbeta = 7\n' \
		'my.conf:4: bitcp.beta: "7" is too large'
	in_log 'the configuration before it stays in force'
	stream_on two 7102
	expect_eq "$(flow_says 7102)" "$first" "after a bad reload"

	reload '[policy]\ncongestion_control = cubic\nreceive_window_max = 1M\nsend_window_max = 2M\n' \
		'policy.congestion_control: bitcp -> cubic'
	in_log 'policy.receive_window_max: 8M -> 1M'
	stream_on three 7103
	expect_eq "$(flow_says 7103)" '["cubic",1048576,2097152]' "of a connection made after it"

	reload '[policy]\nmode = off\n' 'policy.mode: tune -> off'
	stream_on four 7104
	expect_eq "$(flow_says 7104)" "" "of a connection made while it is off"
	expect_eq "$(congestion_of b "sport = :7104")" reno "its congestion control"
	expect_eq "$(flow_says 7101)" "$first" "of one made before"

	reload '[policy]\ncongestion_control = bitcp\n' 'policy.mode: off -> tune'
	stream_on five 7105
	expect_match "$(flow_says 7105)" '^\["bitcp",' "of a connection made after all"
	stream_stop one two three four five
}

# What the kernel shows of both ends of a connection that has carried 3 MB and is idle: every field
# but those that depend on time: clocks and what is measured with them, names of the connection,
# what the speed of slow start decides, and the window probes that a reader who was late has dropped
# (d, sk_drops). The namespaces do not size buffers by speed.
quiet_fields() {
	sed -E 's/\b(ino|sk|cgroup|rto|rtt|ato|lastsnd|lastrcv|lastack|busy|rcv_rtt|minrtt|uid):[^ ]*//g
		s/\b(send|pacing_rate|delivery_rate) [0-9.]+[a-z]*bps//g
		s/\b(cwnd|ssthresh|segs_out|segs_in|data_segs_out|data_segs_in|delivered|snd_wnd|rcv_space|rcv_ssthresh|rcv_ooopack|rwnd_limited|sndbuf_limited|app_limited)(:[^ ]*)?//g
		s/:[0-9]{5}\b/:PORT/g; s/,f[0-9]+,/,f,/; s/,d[0-9]+\)/,d)/; s/ (timer|dsack_dups):[^ ]*//g
		s|\bretrans:0/[0-9]+||g # of the SYN, whose timeout stays 1 s
		s/[[:space:]]+/ /g'
}

fields() { # [STEP...]; the sockets' own answers, too
	rm -f "$TEST_DIR/end"
	application server b tcp4 set rcvbuf 40000 listen 10.99.0.2 7001 accept receive 3000000 \
		get rcvbuf,sndbuf,locks,clamp,wscale,congestion "$@" say "done" until end
	application client a tcp4 set sndbuf 60000 connect 10.99.0.2 7001 send 3000000 \
		get rcvbuf,sndbuf,locks,wscale,congestion "$@" say "done" until end
	wait_printed server '^done'
	wait_printed client '^done'
	wait_output = 3000000 received 7001
	wait_output = 3000001 ss_of a "dport = :7001" 'bytes_acked:([0-9]+)' # with the SYN
	in_host a ss -tinmoeOH "dport = :7001" | quiet_fields
	in_host b ss -tinmoeOH "sport = :7001" | quiet_fields
	cat "$TEST_DIR/server.log" "$TEST_DIR/client.log"
	[ ! -e "$METRICS_DURING" ] || { scrape && cp "$TEST_DIR/scrape" "$METRICS_DURING" &&
		ctl flows --json >"$TEST_DIR/flows.json"; }
	finish end server client
}

quiet_ground() {
	METRICS_DURING=$TEST_DIR/metrics
	host a b
	# no probe of a tail that a busy host delays
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_early_retrans=0
	in_host b sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_moderate_rcvbuf=0
	link a b --rate 100mbit --delay 10ms --queue 20MB
	in_host a ip route add 10.99.0.2/32 dev tun0 rto_min 30s # nothing is lost, however late it is
}

test_policy_off() {
	local without with
	keep_host_state
	quiet_ground
	without=$(fields)
	sysctl -qw kernel.bpf_stats_enabled=1
	tcptuned_start --set=policy.mode=off
	in_log 'policy.mode is off: no connection is touched'
	: >"$METRICS_DURING"
	with=$(fields record)
	sysctl -qw kernel.bpf_stats_enabled=0
	expect_eq "$(grep -c '^record no' <<<"$with")" 2 "sockets without a record"
	with=$(grep -v '^record' <<<"$with")
	expect_eq "$with" "$without" "every field of the sockets"
	# Three calls for a connection opened, two for one accepted; none for some thousand ACKs.
	expect_le "$(awk '/^tcptuned_program_runs_total\{program="sockops"/ { print $2 }' \
		"$METRICS_DURING")" 20 "calls of the program"
	expect_eq "$(in_metrics 'tcptuned_connections_managed_total{opened="here"}')" 0 "connections managed"
	expect_eq "$(sysctl net.ipv4.tcp_rmem)" "$(grep '^net.ipv4.tcp_rmem' <<<"$host_before")" "tcp_rmem"
	tcptuned_stop
	expect_host_state
	# The comparison does show a difference: tuned, they differ.
	tcptuned_start
	[ "$(fields)" != "$without" ] || fail "a tuned connection looks the same"
}

test_observe() {
	local without with option
	kernel_gives 6291456 4194304
	keep_host_state
	quiet_ground
	without=$(fields)
	tcptuned_start --observe
	in_log 'observe: everything is decided and reported, nothing is changed'
	in_log 'observe: would set the maximum of net.ipv4.tcp_rmem to [0-9]+'
	: >"$METRICS_DURING"
	with=$(fields record)
	expect_eq "$(grep -c '^record yes' <<<"$with")" 2 "sockets with a record"
	with=$(grep -v '^record' <<<"$with")
	# but for the memory of the record (o, sk_omem_alloc)
	expect_eq "$(sed 's/,o[0-9]*,/,o,/' <<<"$with")" "$(sed 's/,o[0-9]*,/,o,/' <<<"$without")" \
		"every field of the sockets"
	expect_eq "$(limits)" "4096 131072 6291456 4096 16384 4194304 " "sysctls"
	expect_eq "$(new_in_host_state | grep -c struct_ops || :)" 0 "struct_ops"
	! grep -q bitcp /proc/sys/net/ipv4/tcp_available_congestion_control || fail "registered"

	# All of it was decided: 40 kB are 15 times too little for this path.
	expect_eq "$(awk '/^tcptuned_connections_managed_total/ { sum += $2 } END { print sum }' \
		"$METRICS_DURING")" 2 "managed, both ends"
	expect_eq "$(in_metrics 'tcptuned_connections_observed')" 2 "observed"
	expect_eq "$(in_metrics 'tcptuned_connections_rightsized{direction="receive"}')" 0 "sized"
	for option in RCVBUF SNDBUF; do
		expect_eq "$(in_metrics "tcptuned_buffer_requests_overridden_total{option=\"SO_$option\"}")" 1 \
			"SO_$option that would be overridden"
	done
	expect_ge "$(in_metrics 'tcptuned_rightsize_rounds_total{direction="receive"}')" 20 "rounds"
	expect_eq "$(jq -r '.flows[] | select(.local == "10.99.0.2:7001") | .receive.reason' \
		"$TEST_DIR/flows.json")" kernel "why the window is what it is: 50 KB make no queue"
	tcptuned_stop
	expect_host_state
}

limits() { # [HOST]
	${1+in_host "$1"} sysctl -n net.ipv4.tcp_rmem net.ipv4.tcp_wmem | tr '\t\n' '  '
}

in_metrics() {
	awk -v name="$1" '$1 == name { print $2 }' "$METRICS_DURING"
}

window_max() { # DIRECTION
	ctl_json ".policies[] | select(.policy == \"default\").$1_window_max_bytes" policy list
}

windows() {
	echo "$(window_max receive) $(window_max send)"
}

sysctls_reported() { # FILTER, by tcptunectl, a line for each
	ctl status --json | jq -c ".sysctls[] | [$1]"
}

test_administrator_changes_a_buffer_limit() {
	kernel_gives 6291456 4194304
	tcptuned_start --set=policy.receive_window_max=64M --set=policy.send_window_max=32M
	in_log 'net.ipv4.tcp_rmem set to 4096 131072 134217727'
	# A power of two would make the scale coarser.
	expect_eq "$(limits)" "4096 131072 134217727 4096 16384 4194304 " "limits raised"
	host a
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 5000000"
	expect_eq "$(sysctls_reported '.set_to, .now, .left_alone')" \
		'["4096 131072 134217727","4096 131072 5000000",true]' \
		"what tcptunectl says, before it is noticed"
	in_log 'warning: net.ipv4.tcp_rmem was changed from tcptuned.s 4096 131072 134217727 to 4096 131072 5000000 by another'
	wait_output = "4096 131072 6291456 4096 16384 4194304 " limits a # restored in a namespace
	kill -HUP "$(pid_of tcptuned)"
	in_log 'reloaded: nothing differs'
	sleep 5.5 # the daemon looks at the limits again
	expect_eq "$(limits)" "4096 131072 5000000 4096 16384 4194304 " "after a reload"
	expect_eq "$(times_logged 'was changed from')" 1 "warnings"
	expect_eq "$(sysctls_reported '.name, .before, .set_to, .now, .left_alone')" \
		'["net.ipv4.tcp_rmem",null,"4096 131072 134217727","4096 131072 5000000",true]' \
		"what tcptunectl says of it"
	tcptuned_stop
	expect_eq "$(limits)" "4096 131072 5000000 4096 16384 4194304 " "the administrator's stays"
}

# A network namespace that has the limits of the daemon's gets the same new ones; one that is made later
# has them from the start; one with limits of its own keeps them.
# alone: new namespaces inherit the limits of the host's own
test_buffer_limits_of_other_network_namespaces() {
	local before wmem_max
	before=$(host_limits)
	wmem_max=$(sysctl -n net.core.wmem_max)
	kernel_gives 6291456 4194304
	host a b
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 1000000"
	configure ''
	tcptuned_start --config="$TEST_DIR/my.conf"
	in_log 'net.ipv4.tcp_rmem set to 4096 131072 67108863'
	expect_eq "$(sysctls_reported '.name, .before, .set_to, .now' | tail -n 1)" \
		'["net.core.wmem_max","'"$wmem_max"'","33554432","33554432"]' "what tcptunectl says of it"
	application largest a tcp4 set sndbuf -1 listen 127.0.0.1 7009 say listens until end
	wait_printed largest listens
	expect_eq "$(ss_of a "sport = :7009" "skmem:.*,tb([0-9]+),")" $((2 * wmem_max)) "the most that applications may ask for"
	finish end largest
	host c
	expect_eq "$(limits a)" "4096 131072 67108863 4096 16384 4194304 " "the same limits"
	expect_eq "$(limits b)" "4096 131072 1000000 4096 16384 4194304 " "its own"
	expect_eq "$(limits c)" "4096 131072 67108863 4096 16384 4194304 " "made meanwhile"
	in_host c sysctl -qw net.ipv4.tcp_rmem="4096 131072 70000000"

	# Each is as high as the largest window needs, and no lower than it was.
	reload '[policy]\nreceive_window_max = kernel\nsend_window_max = 4M\n[policy wide]
		remote_port = 80\nsend_window_max = 1G\n' 'net.ipv4.tcp_rmem restored to 4096 131072 6291456'
	in_log 'net.core.wmem_max set to 1073741824'
	expect_eq "$(limits)" "4096 131072 6291456 4096 16384 4194304 " "of the first one"
	expect_eq "$(limits a)" "4096 131072 6291456 4096 16384 4194304 " "of the others"
	expect_eq "$(limits c)" "4096 131072 70000000 4096 16384 4194304 " "its own by now"
	expect_eq "$(window_max receive)" 3145728 "window that the kernel comes to"
	reload '[policy]\nmode = observe\n' 'mode: tune -> observe'
	expect_eq "$(sysctl -n net.core.wmem_max)" 1073741824 "what open connections may set, until a stop"
	tcptuned_kill
	detach_says detached
	expect_eq "$(limits)" "4096 131072 6291456 4096 16384 4194304 " "afterwards"
	expect_eq "$(limits a)" "4096 131072 6291456 4096 16384 4194304 " "afterwards, the others"
	expect_eq "$(limits b)" "4096 131072 1000000 4096 16384 4194304 " "its own"
	expect_eq "$(limits c)" "4096 131072 70000000 4096 16384 4194304 " "its own"
	expect_eq "$(sysctl -n net.core.wmem_max)" "$wmem_max" "afterwards"
	restore_limits "$before"
}

# auto is as large as the administrator's limits allow.
test_larger_buffer_limits_are_kept() {
	kernel_gives 268435456 134217728
	tcptuned_start
	expect_eq "$(windows)" "134217728 67108864" "windows"
	expect_eq "$(limits)" "4096 131072 268435456 4096 16384 134217728 " "limits"
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 536870912"
	wait_output = "268435456 67108864" windows
	sysctl -qw net.ipv4.tcp_wmem="4096 16384 268435456"
	wait_output = "268435456 134217728" windows
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 268435456" net.ipv4.tcp_wmem="4096 16384 134217728"
	wait_output = "134217728 67108864" windows
	tcptuned_stop
	expect_eq "$(limits)" "4096 131072 268435456 4096 16384 134217728 " "limits afterwards"
}

# tcptuned sets the default congestion control of its network namespace if it manages all processes: it
# takes a mount point for the root of a cgroup tree.
bitcp_conf='[policy]\ncongestion_control = bitcp\n'

tcptuned_of_all_in_a() { # [OPTION...]
	configure "$bitcp_conf"
	start_of_all_in_a "$@"
	in_log 'net.ipv4.tcp_congestion_control (set to|is)'
}

start_of_all_in_a() { # [OPTION...]
	mkdir -p "$TEST_DIR/tree"
	mountpoint -q "$TEST_DIR/tree" || mount --bind "$TEST_CGROUP/group" "$TEST_DIR/tree"
	tcptuned_in a --config="$TEST_DIR/my.conf" --set=tcptuned.cgroup="$TEST_DIR/tree" "$@"
}

default_control() {
	in_host a sysctl -n net.ipv4.tcp_congestion_control
}

# It would stay that of namespaces that inherit it.
test_no_default_that_a_stop_would_leave() {
	CONGESTION=reno host a
	configure '[policy]\ncongestion_control = cubic_resume\n'
	start_of_all_in_a
	expect_eq "$(default_control)" reno "the default"
}

test_administrator_changes_the_congestion_control() {
	CONGESTION=reno host a
	tcptuned_of_all_in_a
	in_log 'net.ipv4.tcp_congestion_control set to bitcp'
	expect_eq "$(default_control)" bitcp "the default"
	expect_eq "$(choice "" "" "")" "bitcp bitcp " "of processes anywhere"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	in_log 'warning: net.ipv4.tcp_congestion_control was changed from tcptuned.s bitcp to reno'
	wait_output = "reno reno " choice in_group "" "" # of connections made now
	reload "$bitcp_conf" 'reloaded: nothing differs'
	expect_eq "$(default_control) $(choice in_group "" "")" "reno reno reno " "after a reload"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	expect_eq "$(choice in_group "" "")" "bitcp bitcp " "as the administrator says"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	tcptuned_stop
	expect_eq "$(default_control)" reno "left alone at the end"

	tcptuned_of_all_in_a
	expect_eq "$(default_control)" bitcp "the default"
	tcptuned_stop
	expect_eq "$(default_control)" reno "restored at the end"

	# What the configuration no longer wants is restored at once.
	tcptuned_of_all_in_a
	reload '[policy]\nmode = off\n' 'net.ipv4.tcp_congestion_control restored to reno'
	expect_eq "$(default_control) $(choice "" "" "")" "reno reno reno " "when it is off"
	tcptuned_stop

	tcptuned_of_all_in_a
	tcptuned_kill
	expect_eq "$(default_control)" bitcp "the default after kill -9"
	TCPTUNED_PREFIX="in_host a" detach_says detached
	expect_eq "$(default_control)" reno "restored by --detach"
}

# auto keeps the default and logs what follows; the name of a congestion control replaces what the
# administrator chose, with a warning.
test_default_kept_or_replaced() {
	local default
	host a
	for default in reno cubic bbr; do
		in_host a sysctl -qw net.ipv4.tcp_congestion_control=$default 2>/dev/null || continue
		bitcp_conf='' tcptuned_of_all_in_a
		if [ $default = bbr ]; then
			in_log 'control is bbr: the administrator.s choice, kept; bitcp is offered but not'
			expect_eq "$(choice in_group "" "")" "bbr bbr " "of new connections"
		else
			in_log "control is $default: kept, but connections with 4096 segments or more"
		fi
		expect_eq "$(default_control)" $default "the default"
		expect_match "$(in_host a sysctl -n net.ipv4.tcp_available_congestion_control)" \
			'\<bitcp\>' "offered"
		expect_eq "$(ctl_json '[.congestion_control, .bitcp_registered]' status)" \
			'["auto",true]' "status"
		expect_eq "$(ctl_json '.policies[0] | [.congestion_control, .long_path_segments]' \
			policy list)" '["auto",4096]' "the policy"
		tcptuned_stop
		tcptuned_of_all_in_a
		if [ $default = bbr ]; then
			in_log 'warning: policy default: connections get bitcp in place of bbr'
		else
			! grep 'in place of' "$TEST_DIR/tcptuned.log" || fail "a warning"
		fi
		tcptuned_stop
	done
}

# A change of the administrator counts from the next reload on, also if the daemon has not yet noticed it,
# or if the new configuration does not want that default.
test_administrator_changes_the_default_just_before_a_reload() {
	CONGESTION=reno host a
	tcptuned_of_all_in_a
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	reload '[policy]\ncongestion_control = keep\n' 'policy.congestion_control: bitcp -> keep'
	in_log 'warning: net.ipv4.tcp_congestion_control was changed from tcptuned.s bitcp to reno'
	expect_eq "$(default_control)" reno "the default, when it is not configured any more"
	reload "$bitcp_conf" 'policy.congestion_control: keep -> bitcp'
	expect_eq "$(default_control) $(choice "" "" "")" "reno reno reno " "when it is again"
	tcptuned_stop
	! grep 'congestion_control restored' "$TEST_DIR/tcptuned.log" || fail "it was restored"

	# Before a reload that asks for nothing new.
	tcptuned_of_all_in_a
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	reload "$bitcp_conf" 'reloaded: nothing differs'
	expect_eq "$(choice in_group "" "")" "reno reno " "of connections made right after it"
}

# Another default is another choice for connections that get the default. A policy that names a congestion
# control has chosen, also if it is the same.
test_administrator_changes_the_default_under_a_policy_that_chooses() {
	CONGESTION=reno host a
	bitcp_conf+='[policy web]\nremote_port = 7001\ncongestion_control = bitcp\n'
	tcptuned_of_all_in_a
	expect_eq "$(choice in_group "" "")" "bitcp bitcp " "the listener's, and the client's of the policy"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	in_log 'warning: net.ipv4.tcp_congestion_control was changed from tcptuned.s bitcp to reno'
	wait_output = 2 grep -c "policies in force" "$TEST_DIR/tcptuned.log"
	expect_eq "$(choice in_group "" "")" "reno bitcp " "after the administrator's change"
}

# A hundred reloads a second, some of them bad, while a connection goes on: the last configuration is in
# force at the end.
test_a_hundred_reloads_a_second() {
	local config=$TEST_DIR/reload.conf i daemon pause
	printf '[metrics]\nflows = 0\n' >"$config"
	tuned_path --config="$config" --rate 100mbit --delay 5ms
	stream one 7401 --duration 280 --verify
	wait_output -ge 20 counter tcptuned_rightsize_rounds_total '{direction="receive"}'
	daemon=$(pid_of tcptuned)
	mkfifo "$TEST_DIR/nothing"
	exec {pause}<>"$TEST_DIR/nothing"
	for i in $(seq 1 300); do
		printf '[metrics]\nflows = %d\n' "$i" >"$config.new"
		[ $((i % 10)) != 0 ] || echo 'nonsense = 1' >>"$config.new"
		mv "$config.new" "$config"
		kill -HUP "$daemon"
		read -r -t 0.002 -u "$pause" || : # a process less than sleep; mv takes the rest
	done
	# The last one is bad, and stays until here.
	wait_output -ge 1 metric 'tcptuned_config_reloads_total{result="rejected"}'
	printf '[metrics]\nflows = 777\n[policy]\nreceive_window_max = 3M\n' >"$config.new"
	mv "$config.new" "$config"
	kill -HUP "$(pid_of tcptuned)"
	in_log '-> 777$'
	# those that come while one is pending are one
	expect_between "$(metric 'tcptuned_config_reloads_total{result="ok"}')" 1 301 "reloads"
	expect_eq "$(window_max receive)" 3145728 "what is in force"
	stream_stop one
	expect_undamaged "$(result one .bytes_damaged)" "payload"
}
