# SPDX-License-Identifier: GPL-2.0-only
# Connections open at the start are managed, and restored at the stop; others do not change.

. "$TEST_TOP/tests/system/daemon.sh"

# A transfer to an application that fixes its buffer once it is connected, so that its window scale is large.
opened_before() { # PORT RECEIVER_STEP...
	PRIORITY=$at_once application receiver-$1 b tcp4 listen ${ADDR[b]} "$1" accept "${@:2}" receive 100000000000
	application sender-$1 a tcp4 ${sender_steps-} connect ${ADDR[b]} "$1" send 100000000000
	wait_until received "$1"
}

# Mbit/s that arrive, over a second
rate() { # PORT
	local bytes began=$EPOCHREALTIME
	bytes=$(received "$1")
	sleep 1
	awk -v b="$bytes" -v a="$(received "$1")" -v began="$began" -v ends="$EPOCHREALTIME" \
		'BEGIN { printf "%.1f", (a - b) * 8 / (ends - began) / 1e6 }'
}

# 128 KB, twice what its application asked for, are at most 21 Mbit/s at 50 ms.
slow() { # PORT
	local speed
	speed=$(rate "$1")
	[ "${speed%.*}" -le 22 ]
}

# The log has the number of connections, the metric that of their records.
adopted() { # CONNECTIONS [RECORDS]
	in_log "adopted $1 connections in"
	expect_eq "$(managed before)" "${2-$1}" "adopted connections that have a record"
}

# The largest buffer that setsockopt(SO_RCVBUF) gives on this host, bytes of memory
largest_locked=$((2 * $(sysctl -n net.core.rmem_max)))

segments_sent() { # PORT; by host b
	ss_of b "sport = :$1 and dport != :0" 'segs_out:([0-9]+)'
}

test_receivers_and_congestion_control() {
	local sent
	needs_linux 6.12 "what is open at the start is adopted"
	keep_host_state
	CONGESTION=reno host a b
	link a b --rate 200mbit --delay 25ms
	watch
	opened_before 7201 set rcvbuf 65536 until asked get rcvbuf until over
	sender_steps="set congestion cubic" opened_before 7202 set rcvbuf 65536
	sleep 0.5
	slow 7202 || fail "a fixed buffer is no limit"

	tcptuned_start $bitcp
	adopted 4
	# Not what the kernel did while a buffer was fixed below the window that it had offered, until then; an edge that
	# the adoption itself moves back stays behind the furthest one, and is counted.
	kill -USR1 "$(pid_of watch)"
	wait_printed watch 'from now'
	sent=$(segments_sent 7202)
	proceed asked receiver-7201 rcvbuf
	expect_eq "$(<"$TEST_DIR/receiver-7201.log")" "rcvbuf 131072" "size that its application reads"
	wait_output -ge 1000000 flow 7202 .receive_buffer_bytes
	expect_eq "$(congestion_of a "dport = :7201")" bitcp "congestion control that was not chosen"
	expect_eq "$(congestion_of a "dport = :7202")" cubic "congestion control, chosen by its application"
	expect_eq "$(flow 7201 .receive.requested_bytes)" 65536 "request"
	expect_le "$(flow 7202 .receive_buffer_bytes)" $largest_locked "a buffer that was locked"
	expect_match "$(flow 7202 '.flags | join(" ")')" 'adopted' "flags"

	tcptuned_stop
	expect_eq "$(congestion_of a "dport = :7201")" reno "congestion control afterwards"
	expect_eq "$(congestion_of a "dport = :7202")" cubic "the application's"
	wait_until slow 7202
	wait_output -ge $((sent + 1100)) segments_sent 7202 # some are no ACKs
	expect_no_retraction 2 1000
	SIGNAL=KILL stop_all sender-7201 sender-7202
	expect_host_state
}

# A connection that has carried less than 128 KB gets callbacks and is counted as adopted. It has a record
# once it has carried that.
test_short_connections() {
	needs_linux 6.12 "what is open at the start is adopted"
	host a
	application server a tcp4 listen 127.0.0.1 7600 accept receive 100000 say few receive 300000 \
		say many until over
	application client a tcp4 connect 127.0.0.1 7600 say open until few send 100000 until many \
		send 300000 until over
	wait_printed client open
	tcptuned_start
	adopted 2 0
	proceed few server few
	expect_eq "$(counter tcptuned_connection_records_bytes '')" 0 "records after 100 kB"
	proceed many server many
	expect_eq "$(ctl_json .connections flows)" 2 "records after 400 kB"
	expect_eq "$(flow 7600 .bytes_received)" 400000 "bytes received"
	expect_eq "$(managed here)" 1 "opened here"
	expect_eq "$(managed peer)" 1 "accepted"
}

# A socket fixed its buffers before the start, and connects after it. The application reads its own sizes, and
# the receive buffer grows up to what setsockopt() can set. A stop bounds its window as before, but not its
# buffer, since the peer may still send what was advertised. A second request, for the largest sizes, is
# honoured after the stop, also for a send buffer that tcptuned has not sized.
test_requests_before_the_start() {
	local sizes
	host a b
	link a b --rate 100mbit --delay 5ms # a window of 40 KB is a third of what that holds
	fixed_before 7501
	fixed_before 7502 set rcvbuf -1 set sndbuf -1 get rcvbuf,sndbuf
	tcptuned_start
	proceed started client-7501 received
	wait_printed client-7502 received
	expect_eq "$(connected_to 7501 .receive.request)" lifted "request"
	expect_between "$(connected_to 7501 .receive_buffer_bytes)" 160000 $largest_locked buffer
	expect_eq "$(connected_to 7501 .receive.kernel_max_bytes)" 80000 "what the kernel alone would give"
	tcptuned_stop
	finish stopped client-7501 client-7502
	sizes=$(sed '1d; /clamp/d' "$TEST_DIR/client-7501.log" | tr '\n' ',')
	expect_match "$sizes" '^rcvbuf 80000,sndbuf 100000,received,rcvbuf [0-9]+,sndbuf 100000,$' \
		"sizes that it reads before the stop and after"
	# As much as the path needed, which is not always all that setsockopt() can reach.
	sizes=${sizes#*,rcvbuf }
	expect_between "${sizes%%,*}" 80000 $largest_locked "its buffer after the stop"
	expect_between "$(sed -n 's/clamp //p' "$TEST_DIR/client-7501.log")" 20000 80000 "its clamp"
	expect_ge "$(sed -n 's/clamp //p' "$TEST_DIR/client-7502.log")" 100000 "clamp of the other"
	expect_eq "$(sed -n 's/sndbuf //p' "$TEST_DIR/client-7502.log" | uniq)" $((2 * $(sysctl -n net.core.wmem_max))) \
		"send buffer of the other, withheld and honoured"
}

# A policy that only observes from now on gives such a buffer back, and a stop after that leaves it alone.
test_a_lifted_request_is_honoured_again() {
	host a b
	link a b --rate 100mbit --delay 5ms
	fixed_before 7501
	configure ''
	tcptuned_start --config="$TEST_DIR/my.conf"
	proceed started client-7501 received
	expect_eq "$(connected_to 7501 .receive.request)" lifted "request"
	reload '[policy]\nmode = observe\n' 'policy.mode: tune -> observe'
	ctl policy apply >/dev/null
	expect_eq "$(connected_to 7501 .receive.request)" passed_on "request that is observed"
	tcptuned_stop
	finish stopped client-7501
	expect_between "$(sed -n 's/clamp //p' "$TEST_DIR/client-7501.log")" 20000 80000 "its clamp"
	expect_eq "$(sed -n 's/sndbuf //p' "$TEST_DIR/client-7501.log" | tail -n 1)" 100000 "its send buffer"
}

fixed_before() { # PORT STEP...
	outsider server-$1 b tcp4 listen ${ADDR[b]} "$1" accept send 6000000 until stopped
	application client-$1 a tcp4 set rcvbuf 40000 set sndbuf 50000 say made until started \
		connect ${ADDR[b]} "$1" receive 6000000 "${@:2}" get rcvbuf,sndbuf say received \
		until stopped get rcvbuf,sndbuf,clamp
	wait_printed client-$1 made
}

connected_to() { # PORT FILTER
	ctl_json "first(.flows[]) | $2" flows --remote-address ${ADDR[b]} --remote-port "$1"
}

# Many connections in two network namespaces are adopted once each; some names have no namespace, one name
# cannot be followed.
test_ten_thousand_connections() {
	local count=2500
	needs_linux 6.12 "what is open at the start is adopted"
	keep_host_state
	host a b
	background in-a in_group in_host a "${keep_alive[@]}" pairs $count
	background in-b in_group in_host b "${keep_alive[@]}" pairs $count
	outsider others b tcp4 listen 127.9.9.9 7400 accept until over
	outsider opener b tcp4 connect 127.9.9.9 7400 until over
	wait_printed in-a open
	wait_printed in-b open
	: >/run/netns/none # as `ip netns delete` leaves it for a moment
	ln -s nowhere /run/netns/gone
	ln -s loop /run/netns/loop
	mkfifo /run/netns/fifo # no process writes to it

	tcptuned_start $bitcp
	adopted $((4 * count))
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="vanished"}')" 3 "namespaces gone"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="failed"}')" 1 "not to be entered"
	expect_ge "$(counter tcptuned_adoption_namespaces '{result="visited"}')" 3 "namespaces"
	in_log 'network namespaces or processes that could not be entered: 1'
	expect_eq "$(counter tcptuned_connections '{policy="default",congestion_control="bitcp"}')" $((4 * count)) "live connections"
	expect_eq "$(bitcp_in a) $(bitcp_in b)" "$((2 * count)) $((2 * count))" "on bitcp"
	# Twice what the ring holds that they are read through.
	expect_eq "$(ctl_json '[.matched, (.flows | unique_by(.netns, .local, .remote) | length)]' \
		flows --sort=rtt --limit=10000)" "[$((4 * count)),$((4 * count))]" "each, sorted"
	kill -HUP "$(pid_of tcptuned)"
	in_log 'reloaded'
	expect_eq "$(times_logged adopted)" 1 "adoptions by one daemon"

	tcptuned_kill
	rm /run/netns/none /run/netns/gone /run/netns/loop
	tcptuned_start $bitcp
	in_log 'adopted 0 connections in'
	expect_eq "$(managed before)" $((4 * count)) "adopted, once each"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="failed"}')" 0 "none failed"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="vanished"}')" 1 "but the FIFO"
	tcptuned_stop
	expect_eq "$(bitcp_in a) $(bitcp_in b)" "0 0" "on bitcp afterwards"
	stop_all in-a in-b
	expect_host_state
}

bitcp_in() { # HOST
	in_host "$1" ss -tinOH state established | grep -c bitcp || :
}

# What ss shows of the connections on a, without clocks and the memory of a record.
as_ss_says() {
	in_host a ss -tainmoeOH | sed -E 's/(lastsnd|lastrcv|lastack|timer):[^ ]*//g; s/,o[0-9]+/,o/; s/ +/ /g; s/ $//' | sort
}

expect_as_before() { # WHEN
	local now
	now=$(as_ss_says)
	[ "$now" = "$before" ] || fail "$1: $(diff <(tr " " "\n" <<<"$before") <(tr " " "\n" <<<"$now") | head -n 12)"
	note "$1, ss shows the same of $(wc -l <<<"$now") sockets"
}

# Neither mode = off nor --observe changes anything.
test_unmanaged_connections_do_not_change() {
	local before adoptable=22 fixed=1
	has_linux 6.12 || adoptable=0 fixed=0
	host a
	background some in_group in_host a "${keep_alive[@]}" pairs 10
	application listener a tcp4 set rcvbuf 20000 set sndbuf 30000 listen 127.0.0.9 7301 accept
	wait_printed some open
	application server a tcp4 listen 127.0.0.1 7302 accept say accepted until over
	application client a tcp4 connect 127.0.0.1 7302 set rcvbuf 65536 say fixed until over
	wait_printed client fixed
	wait_printed server accepted
	before=$(as_ss_says)
	tcptuned_start --set=policy.mode=off
	expect_as_before "with mode = off"
	expect_eq "$(managed before)" 0 "adopted, off"
	tcptuned_stop

	tcptuned_start --observe
	adopted $adoptable $fixed
	[ $adoptable != 0 ] || in_log 'left to the kernel: to follow them needs Linux 6.12'
	expect_as_before "with --observe"
	expect_eq "$(counter tcptuned_connections_observed '')" $fixed "observed: the one that is locked"
	tcptuned_stop
	expect_as_before "afterwards"
}
