# SPDX-License-Identifier: GPL-2.0-only
# The sizes that applications request for their sockets, and read: SO_RCVBUF and SO_SNDBUF of TCP
# connections are intercepted from 16 KiB on; the kernel answers everything else.

. "$TEST_TOP/tests/system/daemon.sh"

both=(tcp4 set rcvbuf 40000 set sndbuf 50000 get rcvbuf,sndbuf,locks)
both_alike="rcvbuf 80000,sndbuf 100000,locks"

answers() { # EXPECTED WHAT STEP...
	expect_eq "$(in_group in_host a "${sockets[@]}" "${@:3}" | tr '\n' ',')" "$1" "$2"
}

test_requests_are_intercepted() {
	local family address=127.0.0.1
	host a
	tcptuned_start
	for family in 4 6; do
		# The application reads the sizes that the kernel would report, but only the send buffer is locked.
		answers "$both_alike 1," "TCP over IPv$family" tcp$family "${both[@]:1}"
		application listener a tcp$family set rcvbuf 40000 set sndbuf 50000 \
			listen $address 7000 until end$family
		expect_eq "$(ss_of a "sport = :7000" "skmem:.*,rb([0-9]+),")" \
			"$(in_host a sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')" "its receive buffer, which was larger"
		expect_eq "$(ss_of a "sport = :7000" "skmem:.*,tb([0-9]+),")" 100000 "its send buffer"
		finish end$family listener
		address=::1
	done
	# The last request counts.
	answers "rcvbuf 60000," "the last request" tcp4 set rcvbuf 40000 set rcvbuf 30000 get rcvbuf
	expect_eq "$(overridden SO_RCVBUF)" 6 "requests of SO_RCVBUF overridden"
	expect_eq "$(overridden SO_SNDBUF)" 0 "requests of SO_SNDBUF overridden, as none of these connected"
	# The kernel reads sizes as unsigned, and sets the largest that it allows.
	answers "$(in_host a "${sockets[@]}" tcp4 set rcvbuf -1 set sndbuf -1 get rcvbuf,sndbuf |
		tr '\n' ',')locks 1," "the largest" \
		tcp4 set rcvbuf -1 set sndbuf -1 get rcvbuf,sndbuf,locks
	application largest a tcp4 set rcvbuf -1 set sndbuf 2147483647 listen 127.0.0.2 7000 \
		until end get rcvbuf,sndbuf
	# A stop honours the requests of a listener, and of the connections that it accepts later.
	application listener a tcp4 set rcvbuf 40000 set sndbuf 50000 get locks listen 127.0.0.1 7000 \
		say listening until end get rcvbuf,sndbuf,locks accept get rcvbuf,sndbuf,locks
	wait_printed listener listening
	tcptuned_stop
	: >"$TEST_DIR/end"
	in_host a "${sockets[@]}" tcp4 connect 127.0.0.1 7000
	finish end listener largest
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/listener.log")" \
		"locks 1,listening,$both_alike 3,$both_alike 3," "a listener around the stop"
	expect_ge "$(sed -n 's/^rcvbuf //p' "$TEST_DIR/largest.log")" 1000000 "the largest, after the stop"
	expect_ge "$(sed -n 's/^sndbuf //p' "$TEST_DIR/largest.log")" 1000000 "to send"
}

# Prints what the kernel takes at once of a sender whose path is idle.
burst() { # PORT REQUEST
	application reader b tcp4 listen 10.99.0.2 "$1" accept until "end$1"
	application writer a tcp4 set sndbuf "$2" connect 10.99.0.2 "$1" push 10000000 until "end$1"
	wait_printed writer push
	finish "end$1" reader writer
	sed -n 's/^push //p' "$TEST_DIR/writer.log"
}

# Prints what the kernel takes for a receiver that reads nothing.
unread() { # PORT
	application reader a tcp4 set rcvbuf 150000 listen 127.0.0.1 "$1" accept until "end$1"
	application writer a tcp4 connect 127.0.0.1 "$1" send 10000000
	wait_until holds_still "$1"
	kill "$(pid_of writer)"
	finish "end$1" reader
	echo $held
}

# Sets $held. A window that is full is tried again after 200 ms.
holds_still() { # PORT
	local before=${held-}
	held=$(in_host a ss -tnH "sport = :$1" | awk '{ print $2 }')
	sleep 1
	[ "${held:-0}" != 0 ] && [ "$held" = "$before" ]
}

# An application asks for a large buffer so that a burst fits into it: it does.
test_a_burst_fits_into_what_was_requested() {
	local written held more
	host a b
	link a b --rate 100mbit --delay 500ms # what is in flight stays so while the sender writes
	written=$(burst 7001 150000)
	more=$(burst 7005 4000000) # than the kernel's own may become
	held=$(unread 7002)
	tcptuned_start
	expect_ge "$(burst 7003 150000)" "$written" "bytes that a sender writes at once"
	expect_ge "$(burst 7006 4000000)" "$more" "bytes of one with a large buffer"
	# where the last segment, of up to 64 KB, ends is chance
	expect_ge "$(unread 7004)" $((held - 65536)) "bytes that a receiver holds"
	expect_eq "$(overridden SO_RCVBUF) $(overridden SO_SNDBUF)" "1 2" "requests overridden"
}

# An application that requests less than 16 KiB bounds what a peer may make it hold, or its latency: the
# kernel gets the request, and the socket has no record.
test_small_requests_are_honoured() {
	local received sent answer
	host a
	tcptuned_start
	# The directions are independent.
	while read -r received sent answer; do
		answers "$answer" "$received bytes to receive, $sent to send" \
			tcp4 set rcvbuf $received set sndbuf $sent get rcvbuf,sndbuf,locks record
	done <<-END
		8192 8192 rcvbuf 16384,sndbuf 16384,locks 3,record no,
		16383 16383 rcvbuf 32766,sndbuf 32766,locks 3,record no,
		16384 16384 rcvbuf 32768,sndbuf 32768,locks 1,record yes,
		1 1 rcvbuf 2304,sndbuf 4608,locks 3,record no,
		8192 65536 rcvbuf 16384,sndbuf 131072,locks 3,record yes,
		65536 8192 rcvbuf 131072,sndbuf 16384,locks 1,record yes,
	END
	expect_eq "$(overridden SO_RCVBUF) $(overridden SO_SNDBUF)" "2 0" "requests overridden"
	# The last request counts.
	answers "rcvbuf 16384,sndbuf 16384,locks 3," "8 KiB after 64 KiB" tcp4 set rcvbuf 65536 \
		set sndbuf 65536 set rcvbuf 8192 set sndbuf 8192 get rcvbuf,sndbuf,locks
	answers "rcvbuf 131072,sndbuf 131072,locks 3," "64 KiB after 8 KiB: the buffers are locked" \
		tcp4 set rcvbuf 8192 set sndbuf 8192 set rcvbuf 65536 set sndbuf 65536 \
		get rcvbuf,sndbuf,locks
}

# 3 MB later the small buffers are still what the application asked for, on a path of 250 KB.
test_small_requests_are_honoured_under_traffic() {
	tuned_path "" --rate 200mbit --delay 5ms
	application server b tcp4 set rcvbuf 8192 listen "${ADDR[b]}" 7001 accept receive 3000000 \
		get rcvbuf,locks until end
	application client a tcp4 set sndbuf 8192 connect "${ADDR[b]}" 7001 send 3000000 \
		get sndbuf,locks until end
	wait_printed server locks
	wait_printed client locks
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/server.log")" "rcvbuf 16384,locks 2," "the receiver's"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/client.log")" "sndbuf 16384,locks 1," "the sender's"
	expect_eq "$(flow 7001 .receive.request)" application "the receiver's request"
	expect_eq "$(flow_to 7001 .send.request)" application "the sender's"
}

# A caller who may force a size has it; another one gets an error.
test_requests_with_force() {
	local forced=(set rcvbufforce 40000 set sndbufforce 50000)
	host a
	tcptuned_start
	application server a tcp4 "${forced[@]}" listen 127.0.0.1 7002 accept receive 3000000 until end
	application client a tcp4 "${forced[@]}" connect 127.0.0.1 7002 send 3000000 get rcvbuf,sndbuf,locks until end
	wait_output -ge 3000000 flow_to 7002 .bytes_acked
	expect_eq "$(flow_to 7002 '.receive.request, .send.request' | xargs)" "application application" "forced"
	finish end server client
	rm "$TEST_DIR/end"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/client.log")" "$both_alike 3," "forced"
	run_sockets_as_nobody
	answers "set rcvbufforce: Operation not permitted,set sndbufforce: Operation not permitted,locks 0," \
		"not permitted" tcp4 "${forced[@]}" get locks
	sockets=("$TEST_TOP/tests/system/sockets.py")
	tcptuned_stop
	# Where requests are honoured, a connection whose buffers were sized has the application's size from then on.
	tcptuned_start --set=policy.override_rcvbuf=no --set=policy.override_sndbuf=no
	answers "$both_alike 3," "honoured" "${both[@]}"
	application server a tcp4 listen 127.0.0.1 7001 accept receive 3000000 until end
	application client a tcp4 connect 127.0.0.1 7001 send 3000000 until go "${forced[@]}" \
		get rcvbuf,sndbuf,locks until end
	wait_output -ge 3000000 flow_to 7001 .bytes_acked
	expect_eq "$(flow_to 7001 '.receive.request, .send.request' | xargs)" "none none" "before"
	proceed go client locks
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/client.log")" "$both_alike 3," "honoured"
	expect_eq "$(flow_to 7001 '.receive.request, .send.request' | xargs)" "application application" "after"
	finish end client
}

# The receive buffer of a listener whose requests were intercepted is not locked, and neither are those of the
# connections that it accepts: the kernel sizes them up to its maximum, and reports the real size. Send buffers are
# locked, and tcptuned sizes them. 20 MB go each way in between.
children() { # GROUP
	rm -f "$TEST_DIR/end"
	GROUP=$1 application server b tcp4 set rcvbuf 65536 set sndbuf 65536 \
		get rcvbuf,sndbuf listen "${ADDR[b]}" 7001 accept get locks,wscale send 20000000 \
		receive 20000000 get rcvbuf,sndbuf,locks say "done" until end
	outsider client a tcp4 connect "${ADDR[b]}" 7001 receive 20000000 send 20000000 until end
	wait_printed server '^done'
	real=$(ss_of b "sport = :7001 and dport != :0" 'skmem:.*,rb([0-9]+),')
	real+=" $(ss_of b "sport = :7001 and dport != :0" 'skmem:.*,tb([0-9]+),')"
	[ -z "$1" ] || listed=$(flow 7001 \
		'[.receive.requested_bytes, .receive.request]')
	finish end server client
	said=($(sed 's/^[a-z]* //' "$TEST_DIR/server.log"))
}

test_kernel_sizes_what_a_listener_accepts() {
	local said real listed
	CONGESTION=reno host a b
	link a b --rate 50mbit --delay 10ms --queue 1bdp # what the kernel wants stays below its own maximum
	children ""
	expect_eq "${said[*]}" "131072 131072 3 1 131072 131072 3 done" "without tcptuned"
	tcptuned_start
	children in_group
	expect_eq "${said[0]} ${said[1]}" "131072 131072" "what the listener reads"
	expect_eq "${said[2]} ${said[6]}" "1 1" "locks of the accepted connection, before and after"
	expect_ge "${said[3]}" 10 "its window scale"
	# 125 KB per round trip and as much in the queue: the kernel allows for twice that.
	expect_ge "${said[4]}" 250000 "its receive buffer"
	# These and a quarter, whose memory is more than they.
	expect_ge "${real#* }" 156250 "its send buffer"
	expect_eq "${said[4]} 131072" "${real% *} ${said[5]}" "the sizes that it reads: the real one, and twice what was requested"
	expect_eq "$listed" '[65536,"listener"]' "what was requested of its listener"
}

# What one listener has requested is not what another one of its port accepts with, at the same time or later.
test_listeners_of_one_port() {
	local accepted='[.flows[] | select(.flags | contains(["passive"])) | [.local, .receive.request, .send.request]] | sort'
	listens_at() { # NAME FAMILY ADDRESS PORT [STEP...]
		application "$1" a "$2" "${@:5}" listen "$3" "$4" say listens accept until end
		wait_printed "$1" listens
	}
	host a
	start_with '[policy]\n' # bitcp, which is set at once, so that each has a record
	listens_at plain tcp4 127.0.0.2 7001
	listens_at asks tcp4 127.0.0.3 7001 set rcvbuf 40000 set sndbuf 50000
	listens_at last tcp4 127.0.0.4 7001
	listens_at any tcp4 0.0.0.0 7002 set sndbuf 60000
	listens_at both tcp6 :: 7003 set sndbuf 60000
	listens_at mapped tcp6 ::ffff:0.0.0.0 7004 set sndbuf 60000
	in_group in_host a "${sockets[@]}" tcp4 set sndbuf 60000 listen 0.0.0.0 7006 get locks >/dev/null
	listens_at next tcp4 127.0.0.8 7006
	for to in 127.0.0.{2,3,4}\ 7001 127.0.0.5\ 7002 127.0.0.6\ 7003 127.0.0.7\ 7004 127.0.0.8\ 7006; do
		application "to-${to/ /-}" a tcp4 connect $to until end
	done
	wait_output = 7 ctl_json "$accepted | length" flows
	expect_eq "$(ctl_json "$accepted" flows)" "$(jq -c . <<-END)" "addresses, and what was requested of their listeners"
		[["127.0.0.2:7001","none","none"],["127.0.0.3:7001","listener","lifted"],["127.0.0.4:7001","none","none"],
		["127.0.0.5:7002","none","lifted"],["127.0.0.6:7003","none","lifted"],["127.0.0.7:7004","none","lifted"],
		["127.0.0.8:7006","none","none"]]
	END
}

# The BPF program sees only the first page of an option.
test_options_of_any_length() {
	local steps=(tcp4 set keepalive 1 /8192 get keepalive get keepalive /8192
		set keepalive 0 /4097 get keepalive set rcvbuf 40000 /2 set keepalive 1 /2
		get rcvbuf /2 get congestion /5000)
	local expected
	host a
	expected=$(in_host a "${sockets[@]}" "${steps[@]}" | tr '\n' ',')
	expect_match "$expected" '^keepalive 1,keepalive 1,keepalive 0,set rcvbuf: Invalid' "without"
	tcptuned_start
	answers "$expected" "answers" "${steps[@]}"
}

test_other_sockets_are_not_intercepted() {
	local kind
	host a
	tcptuned_start
	for kind in udp4 unix raw4; do
		answers "$both_alike 3,record no," "$kind" $kind "${both[@]:1}" record
	done
	answers "locks 0,record yes," "TCP, to compare" tcp4 set rcvbuf 40000 get locks record
	expect_eq "$(overridden SO_RCVBUF)" 1 "requests overridden"
}

# If an application sets its window clamp, its SO_RCVBUF is honoured, too: without it, the kernel's autotuning
# would move the clamp. The order does not matter, nor whether it is connected. (The kernel decides how long
# the clamp holds: tcp_measure_rcv_mss().)
clamped() { # GROUP STEP...
	[[ $* != *connect* ]] ||
		application sender a tcp4 listen "${ADDR[a]}" 7002 accept send 3000000 until end
	GROUP=$1 application clamped b tcp4 "${@:2}" get clamp,locks,rcvbuf say "done" until end
	[[ $* == *connect* ]] ||
		application sender a tcp4 connect "${ADDR[b]}" 7002 send 3000000 until end
	wait_printed clamped '^done'
	ctl_json '.flows[]' flows --local-address 10.99.0.2 --port 7002 >"$TEST_DIR/clamped.json"
	finish end sender clamped
	rm "$TEST_DIR/end"
	expect_eq "$(sed '/clamp/d' "$TEST_DIR/clamped.log" | tr '\n' ',')" \
		"locks 2,rcvbuf 300000,done," "after: ${*:2}"
}

clamped_alike() { # STEP...
	clamped "" "$@"
	clamped in_group "$@"
	# At most what 300 kB of memory hold; the kernel alone would make it megabytes.
	expect_le "$(jq .window_clamp_bytes "$TEST_DIR/clamped.json")" 200000 "clamp"
	expect_le "$(jq .advertised_window_bytes "$TEST_DIR/clamped.json")" 200000 "its window"
	expect_eq "$(jq -r .receive.request "$TEST_DIR/clamped.json")" application "request"
}

test_window_clamp_of_the_application() {
	local connection=(listen 10.99.0.2 7002 accept)
	tuned_path "" --rate 200mbit --delay 5ms
	clamped_alike "${connection[@]}" set rcvbuf 150000 set clamp 100000 receive 3000000
	clamped_alike "${connection[@]}" set clamp 100000 set rcvbuf 150000 receive 3000000
	clamped_alike set rcvbuf 150000 set clamp 100000 connect 10.99.0.1 7002 receive 3000000
}

# The settings of a socket survive tcp_disconnect(). Its next connection begins as any other: window scale,
# first window, congestion control.
test_a_socket_that_connects_again() {
	CONGESTION=reno host a b
	link a b --rate 100mbit --delay 5ms
	watch
	tcptuned_start $bitcp
	outsider one a tcp4 listen "${ADDR[a]}" 7003 accept receive 400000 send 6000000 until again
	outsider two a tcp4 listen ${ADDR[a]} 7004 accept until go send 3000000 until over
	PRIORITY=$at_once application client b tcp4 connect "${ADDR[a]}" 7003 send 400000 receive 6000000 say received \
		until again disconnect connect "${ADDR[a]}" 7004 get wscale receive 3000000 say over \
		until over
	wait_printed client received
	expect_eq "$(flow_to 7003 .flags)" '["congestion_control_set"]' "flags of the first"
	expect_match "$(flow_to 7003 .send.unsent_max_bytes)" "^[1-9]" "what of it may wait unsent"
	proceed again client wscale
	expect_ge "$(sed -n 's/wscale //p' "$TEST_DIR/client.log")" 7 "window scale of the second"
	expect_eq "$(flow_to 7004 '[.flags[], .congestion_control, .send.unsent_max_of_others_bytes,
		.bytes_received]')" \
		'["congestion_control_set","bitcp",null,0]' "flags and limits of the second"
	proceed go client over
	tcptuned_stop
	expect_eq "$(congestion_of b "dport = :7004")" reno "after the stop"
	: >"$TEST_DIR/over"
	expect_no_retraction 2 100 2
}

# The application fixes its buffer between two connections.
test_a_socket_that_is_fixed_and_connects_again() {
	local port
	tuned_path --set=policy.override_rcvbuf=no --rate 100mbit --delay 5ms
	for port in 7003 7005; do
		outsider peer-$port a tcp4 listen ${ADDR[a]} $port accept send 3000000 until over
	done
	application fixed b tcp4 connect "${ADDR[a]}" 7003 receive 3000000 say first until again \
		disconnect set rcvbuf 40000 connect "${ADDR[a]}" 7005 receive 3000000 get rcvbuf,locks \
		until over
	wait_printed fixed first
	expect_eq "$(flow_to 7003 .receive.request)" none "the first"
	proceed again fixed locks
	expect_eq "$(flow_to 7005 .receive.request)" application "the second"
	expect_eq "$(tail -n 2 "$TEST_DIR/fixed.log" | tr '\n' ',')" "rcvbuf 80000,locks 2," "its buffer"
}

# Once data has come the kernel no longer moves the clamp by itself. What a sender has asked for stays.
test_requests_on_an_open_connection() {
	tuned_path "" --rate 100mbit --delay 5ms
	outsider peer a tcp4 listen ${ADDR[a]} 7003 accept send 150000 until over
	application reader b tcp4 connect "${ADDR[a]}" 7003 receive 150000 set rcvbuf 4000000 get clamp until over
	wait_printed reader clamp
	expect_ge "$(sed -n 's/^clamp //p' "$TEST_DIR/reader.log")" 4000000 "clamp"
	finish over peer reader
	outsider peer b tcp4 listen ${ADDR[b]} 7004 accept receive 3150000 until end
	application writer a tcp4 connect "${ADDR[b]}" 7004 send 150000 set sndbuf 4000000 send 3000000 say sent until end
	wait_printed writer sent
	wait_until all_read 7004
	expect_ge "$(flow_to 7004 .send_buffer_bytes)" 8000000 "send buffer"
	finish end peer writer
}

# Its data is live: what tcptuned limits, its buffer limits again after the stop. Some ask after they have sent.
test_a_small_send_buffer_returns_at_the_stop() {
	tuned_path "" --rate 100mbit --delay 5ms
	outsider peer b tcp4 listen ${ADDR[b]} 7003 accept receive 1000000 until over
	application writer a tcp4 connect "${ADDR[b]}" 7003 send 500000 set sndbuf 32768 send 500000 say sent until go \
		get sndbuf,locks until over
	wait_printed writer sent
	expect_eq "$(flow_to 7003 '[.send.request, .send.kernel_max_bytes]')" '["lifted",65536]' "request"
	tcptuned_stop
	proceed go writer locks
	expect_eq "$(tail -n 2 "$TEST_DIR/writer.log" | tr '\n' ',')" "sndbuf 65536,locks 1," "after the stop"
	finish over peer writer
}

# An application that sizes its buffer from then on gets no bound of tcptuned's that would never change again.
test_an_honoured_request_ends_the_bound_of_unsent_data() {
	tuned_path "" --rate 100mbit --delay 5ms
	outsider peer b tcp4 listen ${ADDR[b]} 7003 accept receive 400000 until over
	# in so few round trips it cannot be late as often as ends the bound
	application writer a tcp4 connect "${ADDR[b]}" 7003 send 400000 say sent until go get unsent set sndbuf 8192 \
		get unsent say over until over
	wait_printed writer sent
	wait_output -ge 131072 flow_to 7003 .send.unsent_max_bytes
	proceed go writer over
	expect_ge "$(sed -n 's/^unsent //p' "$TEST_DIR/writer.log" | head -n 1)" 131072 "TCP_NOTSENT_LOWAT before"
	expect_eq "$(sed -n 's/^unsent //p' "$TEST_DIR/writer.log" | tail -n 1)" 0 "... afterwards"
	finish over peer writer
}
