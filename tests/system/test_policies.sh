# SPDX-License-Identifier: GPL-2.0-only
# Named policies: which connection gets which, by address, ports and control group; what each of
# them sets; that a reload changes all at once; that one which observes or is off changes no socket.

. "$TEST_TOP/tests/system/daemon.sh"

# A control group that the daemon manages, and its name in a configuration.
sub=$TEST_CGROUP/group/sub
sub_name=${sub#"$(dirname "$TEST_CGROUP")"}

# The host has many addresses, and each of them a listener's connection from any other.
addresses() {
	local address
	CONGESTION=reno host a
	for address in {10.1.1.1,10.1.2.1,10.2.1.1,192.0.2.1}/32 2001:db8:{1,2}::1/128; do
		in_host a ip address add $address dev lo nodad
	done
}

# Connects to a service, does the steps at both ends, and prints the client's congestion control and answers.
meet() { # ADDRESS PORT [STEP...]
	local family=4
	[[ $1 != *:* ]] || family=6
	# A connect() that is refused would be counted as a connection of its policy.
	GROUP=${SERVER_PREFIX-in_group} application server a tcp$family ${SERVER_STEPS-} \
		listen $1 $2 accept get congestion "${@:3}"
	${CLIENT_PREFIX-in_group} in_host a "${sockets[@]}" tcp$family ${CLIENT_STEPS-} \
		connect $1 $2 get congestion "${@:3}" >"$TEST_DIR/client.log"
	wait "$(pid_of server)"
	answers_of client
}

answers_of() { # client or server
	sed 's/^congestion //' "$TEST_DIR/$1.log" | tr '\n' ' ' | sed 's/ $//'
}

test_policy_of_each_connection() {
	addresses
	mkdir "$sub"
	start_with "[policy wide]\ndestination = 10.0.0.0/8, 2001:db8::/32\ncongestion_control = cubic
		[policy narrow]\ndestination = 10.1.1.0/24\ncongestion_control = reno
		[policy narrow-http]\ndestination = 10.1.1.0/24\nremote_port = 80\ncongestion_control = cubic
		[policy exempt]\ndestination = 10.1.2.1, 2001:db8:2::1\nmode = off
		[policy from]\nsource = 192.0.2.0/24\ndestination = 192.0.2.1\ncongestion_control = bbr
		[policy group]\ncgroup = $sub_name\ncongestion_control = cubic"
	in_log '7 policies in force'
	expect_eq "$(meet 127.0.0.1 7001 record)" "bitcp record yes" "to elsewhere: default"
	expect_eq "$(meet 10.2.1.1 7002)" cubic "to 10.2.1.1: wide"
	expect_eq "$(meet 10.1.1.1 7003)" reno "to 10.1.1.1: narrow"
	expect_eq "$(meet 10.1.1.1 80)" cubic "to its port 80: narrow-http"
	expect_eq "$(answers_of server)" reno "the server's end, whose peer's port is another: narrow"
	expect_eq "$(SERVER_STEPS='set rcvbuf 30000' CLIENT_STEPS='set rcvbuf 30000' \
		meet 10.1.2.1 7004 record)" "reno record no" "to 10.1.2.1: exempt"
	expect_eq "$(answers_of server)" "reno record no" "its server's end: exempt"
	expect_eq "$(meet 2001:db8:1::1 7005)" cubic "to 2001:db8:1::1: wide"
	expect_eq "$(meet 2001:db8:2::1 7006)" reno "to 2001:db8:2::1: exempt"
	expect_eq "$(meet ::1 7007)" bitcp "to ::1: default"
	expect_eq "$(meet ::ffff:10.2.1.1 7008)" cubic "an IPv6 socket's IPv4 peer: wide"
	expect_eq "$(meet 192.0.2.1 7009)" bbr "from and to 192.0.2.1: from"
	# By the group in which the socket was made, or one below it; the other end is elsewhere.
	mkdir "$sub/deeper"
	expect_eq "$(CLIENT_PREFIX=in_sub meet 127.0.0.1 7010)" cubic "of the group"
	expect_eq "$(answers_of server)" bitcp "its peer, of another group"
	expect_eq "$(CLIENT_PREFIX=in_sub meet 10.1.1.1 7011)" reno "a prefix goes before a group"
	expect_eq "$(managed here)" 10 "managed"
}

in_sub() (
	trap - ERR
	echo 0 >"$TEST_CGROUP/group/sub/deeper/cgroup.procs"
	lib_exec "$@"
)

# Metrics and flows name the policy of a connection. One that observes is measured, too.
test_named_in_metrics_and_flows() {
	CONGESTION=reno configured_path '[policy far]\ndestination = 10.99.0.0/30\ncongestion_control = cubic
		receive_window_max = 5M\nmode = observe' --rate 100mbit --delay 5ms --queue 1MB
	stream one 7101 --duration 280
	# 100 Mbit/s at 10 ms are 125 kB a round trip, and the queue makes that more.
	wait_carried 7101 50M -ge 110000 flow 7101 .receive.per_rtt_bytes
	wait_carried 7101 50M -ge 10000000 flow 7101 .receive.rate_best_bytes_per_s
	expect_eq "$(flow 7101 '[.policy, (.flags | index("observe") != null), .congestion_control,
		.receive.window_max_bytes]')" \
		'["far",true,"reno",5242880]' "the flow"
	scrape
	expect_match "$(<"$TEST_DIR/scrape")" '^tcptuned_connections\{policy="far",.*\} 2' "count"
	expect_match "$(<"$TEST_DIR/scrape")" '^tcptuned_policy_mode\{policy="far",mode="observe"\} 1' "mode"
	expect_match "$(<"$TEST_DIR/scrape")" '^tcptuned_policy_mode\{policy="default",mode="tune"\} 1' "mode"
	stream_stop one
}

steps=(set rcvbuf 40000 set sndbuf 50000)

# What both ends read on loopback after the same requests.
asked() { # GROUP PORT
	SERVER_PREFIX=$1 CLIENT_PREFIX=$1 SERVER_STEPS="${steps[*]}" CLIENT_STEPS="${steps[*]}" \
		meet 127.0.0.1 $2 get rcvbuf,sndbuf,locks,clamp,wscale
	echo " | $(answers_of server)"
}

test_requests_are_settled_when_the_policy_is_known() {
	local theirs unconnected
	CONGESTION=reno host a
	theirs=$(asked "" 7001)
	expect_match "$theirs" "reno rcvbuf 80000 sndbuf 100000 locks 3 .* locks 3" "without tcptuned"
	start_with '[policy off-client]\nremote_port = 7001\nmode = off
		[policy off-server]\nlocal_port = 7001\nmode = off
		[policy obey-client]\nremote_port = 7002\noverride_rcvbuf = no\noverride_sndbuf = no
		[policy obey-server]\nlocal_port = 7002\noverride_rcvbuf = no\noverride_sndbuf = no
		[policy watch]\nremote_port = 7003\nmode = observe'
	# Without a policy: the same, to the window scale.
	expect_eq "$(asked in_group 7001)" "$theirs" "off, both ends"
	expect_eq "$(asked in_group 7002)" "${theirs//reno/bitcp}" "honoured, both ends"
	expect_eq "$(asked in_group 7003 | sed 's/ |.*//')" "$(sed 's/ |.*//' <<<"$theirs")" "observed"
	expect_match "$(asked in_group 7004)" "^bitcp rcvbuf 80000 sndbuf 100000 locks 1 " "overridden"
	# The listener cannot know that its peer's port will not be 7001.
	expect_match "$(answers_of server)" "^bitcp rcvbuf [0-9]+ sndbuf 100000 locks 3 .* wscale 0" "a listener"
	unconnected=$(in_group in_host a "${sockets[@]}" tcp4 "${steps[@]}" get rcvbuf,locks | tr '\n' ' ')
	expect_eq "$unconnected" "rcvbuf 80000 locks 1 " "before it is known"
	# Both ends of 7003, of which one observes, and both of 7004. The unconnected one is not counted.
	expect_eq "$(overridden SO_RCVBUF)" 4 "requests overridden, or that would have been"
	# Policies of other ports do not concern a listener.
	reload '[policy off-server]\nlocal_port = 7001\nmode = off' 'policy watch: defined -> none'
	expect_match "$(asked in_group 7005)" \
		"^bitcp rcvbuf 80000 sndbuf 100000 locks 1 .*\\| bitcp rcvbuf 131072 sndbuf 100000 locks 1 " \
		"where only another service is exempt"
	# The same where all others are.
	reload '[policy]\nmode = observe\n[policy server]\nlocal_port = 7006\nmode = tune\ncongestion_control = bitcp' \
		'policy server: none -> defined'
	expect_match "$(asked in_group 7006)" "\\| bitcp rcvbuf 131072 sndbuf 100000 locks 1 " "where only this service is tuned"
	expect_match "$(asked in_group 7007)" "\\| reno rcvbuf 80000 sndbuf 100000 locks 3 " "another one"
}

# A bad configuration leaves the one before it in force.
test_reload_is_all_or_nothing() {
	addresses
	printf '10.1.0.0/16\n10.2.0.0/16\n' >"$TEST_DIR/prefixes"
	start_with "[policy list]\ndestination_file = $TEST_DIR/prefixes\ncongestion_control = cubic"
	expect_eq "$(meet 10.2.1.1 7001) $(meet 192.0.2.1 7001)" "cubic bitcp" "from the file"
	printf '10.1.0.0/16\n10.2.0.1/16\n' >"$TEST_DIR/prefixes"
	kill -HUP "$(pid_of tcptuned)"
	in_log "$TEST_DIR/prefixes:2: policy list.destination_file: the line has .10.2.0.1/16. in it"
	in_log 'the configuration before it stays in force'
	expect_eq "$(meet 10.2.1.1 7001) $(meet 192.0.2.1 7001)" "cubic bitcp" "after a bad reload"
	printf '192.0.2.0/24\n' >"$TEST_DIR/prefixes"
	kill -HUP "$(pid_of tcptuned)"
	in_log 'policy list: contents of destination_file: 2 prefixes -> 1 prefixes'
	expect_eq "$(meet 10.2.1.1 7001) $(meet 192.0.2.1 7001)" "bitcp cubic" "after a good one"
	tcptuned_kill
	expect_eq "$(meet 192.0.2.1 7001)" cubic "without a daemon"
	tcptuned_start $bitcp --config="$TEST_DIR/my.conf"
	expect_eq "$(meet 10.2.1.1 7001) $(meet 192.0.2.1 7001)" "bitcp cubic" "after a restart"
}

# A daemon that was killed while it wrote the next generation has left records of it. The next daemon
# uses the same number, and must not take them for its policies.
test_records_of_a_killed_daemon() {
	local map=/sys/fs/bpf/tcptuned/map_policies place
	host a
	start_with '[policy one]\nremote_port = 7001'
	for place in 0 1 2 3; do
		bpftool map update pinned $map key hex 0$place 00 02 00 value hex \
			$(bpftool -j map lookup pinned $map key hex 01 00 01 00 |
				jq -r '.value | map(ltrimstr("0x")) | join(" ")')
	done
	reload '[policy two]\nremote_port = 7002' 'policy two'
	wait_output = 2 times_logged 'policies in force, installed'
	expect_eq "$(ctl_json '[.policies[].policy] | join(" ")' policy list)" "default two" "policies"
	expect_eq "$(records)" 4 "records, of two configurations"
}

# While the daemon is reloaded over and over, every connection has one of the two policies, whole: cubic,
# and its request is overridden, or reno, and it is honoured.
test_reload_is_atomic() {
	local i end odd=0 cubic=0 reno=0
	host a
	printf '[policy p]\nremote_port = 7001\ncongestion_control = cubic\n' >"$TEST_DIR/one"
	configure '[policy p]\nremote_port = 7001\ncongestion_control = reno\noverride_rcvbuf = no'
	cp "$TEST_DIR/my.conf" "$TEST_DIR/two"
	tcptuned_start --config="$TEST_DIR/my.conf" --set=tcptuned.log_level=error
	background reloader reload_for_ever
	for i in $(seq 40); do
		end=$(CLIENT_STEPS='set rcvbuf 40000' meet 127.0.0.1 7001 get locks)
		case $end in
		"cubic locks 0") cubic=$((cubic + 1)) ;;
		"reno locks 2") reno=$((reno + 1)) ;;
		*) odd=$((odd + 1)) && note "$end" ;;
		esac
	done
	kill -0 "$(pid_of reloader)" || fail "no more reloads: $(<"$TEST_DIR/reloader.log")"
	stop reloader || :
	expect_eq $odd 0 "connections with half a policy"
	expect_ge $cubic 1 "connections with one"
	expect_ge $reno 1 "and with the other"
	expect_ge "$(metric 'tcptuned_config_reloads_total{result="ok"}')" 20 "reloads meanwhile"
	expect_eq "$(cat "$TEST_DIR/tcptuned.log")" "" "errors"
}

reload_for_ever() {
	local file
	while :; do
		for file in one two; do
			cp "$TEST_DIR/$file" "$TEST_DIR/new"
			mv "$TEST_DIR/new" "$TEST_DIR/my.conf" # replaced, never half written
			kill -HUP "$(pid_of tcptuned)"
			sleep 0.01
		done
	done
}

test_ten_thousand_prefixes() {
	addresses
	seq 0 9999 | awk '{ if ($1 % 2) printf "10.%d.%d.0/24\n", 100 + $1 / 256, $1 % 256
		else printf "2001:db8:%x::/48\n", $1 + 16 }' >"$TEST_DIR/prefixes"
	echo 10.1.2.0/24 >>"$TEST_DIR/prefixes"
	start_with "[policy many]\ndestination_file = $TEST_DIR/prefixes\ncongestion_control = cubic"
	in_log '2 policies in force, installed in [0-9.]+ ms'
	expect_eq "$(bpftool -j map show | jq '[.[] | select(.name == "match_trie") | .max_entries] | max')" \
		10002 "entries, with that of everywhere"
	expect_eq "$(meet 10.1.2.1 7001) $(meet 10.1.1.1 7002) $(meet 2001:db8:1::1 7003)" \
		"cubic bitcp bitcp" "of the list, and not of it"
}

# A reload that changes no policy keeps the ids that connections have: of other generations so many are kept.
test_policies_that_stay_keep_their_ids() {
	local key
	host a
	start_with "[policy web]\nlocal_port = 7001\n"
	application server a tcp4 listen 127.0.0.1 7001 accept receive 300000 until end
	application client a tcp4 connect 127.0.0.1 7001 send 300000 until end
	wait_output -ge 300000 flow 7001 .bytes_received
	key=$(flow 7001 .policy_key)
	reload "[metrics]\nflows = 7\n[policy web]\nlocal_port = 7001\n" '-> 7'
	expect_eq "$(ctl_json .moved policy apply)" 0 "moved"
	expect_eq "$(flow 7001 '.policy, .policy_key' | xargs)" "web $key" "the policy"
	reload "[policy web]\nlocal_port = 7001\nmode = observe\n" 'mode: tune -> observe'
	expect_eq "$(ctl_json .moved policy apply)" 2 "moved, both ends"
	expect_eq "$(flow 7001 .policy_key)" $((key + 65536)) "the next generation"
	finish end server client
}

# Pacing holds back the bytes that wait, and explain says whose it is.
test_pacing_is_the_limit() {
	local said
	host a
	tcptuned_start
	application server a tcp4 listen 127.0.0.1 7001 accept receive 50000000
	application client a tcp4 set pacing 1000000 connect 127.0.0.1 7001 send 50000000
	wait_output = pacing flow_to 7001 .limit
	wait_until says_what_waits
	expect_match "$said" "pacing       at most 1000000 bytes \(977K\) per second, as the application set it" \
		"explained"
	expect_match "$said" "unsent       [1-9][0-9]* bytes" "what waits"
}

says_what_waits() {
	said=$(ctl explain "$(flow_to 7001 .local)" 127.0.0.1:7001)
	grep -q "unsent       [1-9]" <<<"$said"
}

# The largest number of policies, of which the last one is found, too. One more is refused.
test_256_policies() {
	local n=256 map=/sys/fs/bpf/tcptuned/map_policies
	addresses
	many_policies() { # NUMBER
		seq $(($1 - 1)) | awk '{ printf "[policy p%d]\ndestination = 10.%d.%d.0/24\n" \
			"local_port = %d\noverride_rcvbuf = no\n", $1, 100 + $1 / 256, $1 % 256,
			10000 + $1 }'
		printf '[policy mine]\nremote_port = 7001\ncongestion_control = cubic\n'
	}
	start_with "$(many_policies $n)"
	in_log "$((n + 1)) policies in force"
	application early-server a tcp4 listen 10.1.1.1 7001 accept until late receive 500000 say ok
	application early a tcp4 connect 10.1.1.1 7001 get congestion until late send 500000
	wait_printed early congestion
	expect_eq "$(flow_to 7001 .policy)" mine "the policy of the connection"
	expect_eq "$(ctl_json '.policies | "\(length) \(.[-2].rule) \(.[-1].policy)"' policy list)" \
		"$((n + 1)) destination 10.100.255.0/24, local port $((9999 + n)) mine" "policies"
	# Any of them may match what a listener accepts; its port alone excludes some.
	expect_eq "$(scale_of $((9999 + n)))" 0 "window scale of a listener that the last may concern"
	expect_ge "$(scale_of $((10000 + n)))" 1 "of one that none of them does"
	reload "$(many_policies $((n + 1)))" 'one policy too many; there may be 256'
	in_log 'the configuration before it stays in force'
	reload "$(many_policies $n | sed s/mine/other/)" 'policy other: none -> defined'
	expect_eq "$(records)" $((2 * n + 2)) "records, of two configurations"
	expect_eq "$(flow_to 7001 .policy)" mine "the policy of the connection"
	bpftool map delete pinned $map key hex 00 01 01 00
	expect_eq "$(flow_to 7001 .policy)" "(earlier)" "the policy, when its record is gone"
	expect_eq "$(ctl_json '.flows | length' flows --policy '(earlier)')" 1 "flows by that name"
	expect_eq "$(meet 10.2.1.1 7001)" cubic "a new one"
	proceed late early-server ok
}

# The window scale that a listener offers whose application requests a small buffer. The kernel accepts
# connections before the BPF program of listen() has tried its hundreds of rules.
scale_of() { # PORT
	application server a tcp4 set rcvbuf 40000 listen 127.0.0.1 $1 say listening accept get wscale
	wait_printed server listening
	in_group in_host a "${sockets[@]}" tcp4 connect 127.0.0.1 $1 get wscale >/dev/null
	wait "$(pid_of server)"
	sed -n 's/^wscale //p' "$TEST_DIR/server.log"
}

records() { # jq would take seconds for so many
	bpftool -j map dump pinned /sys/fs/bpf/tcptuned/map_policies | grep -o '"formatted"' | wc -l
}

descriptors() { # of the daemon
	ls "/proc/$(pid_of tcptuned)/fd" | sort
}

# A policy of a missing control group matches no connection until that is made, without a reload; a
# bit later if the daemon lacks a resource then: the second new map is one descriptor too many. A
# fault is logged when it is found and at a reload, not upon retries or another policy's change.
# bitcp: only there all user IDs of the daemon are those of root, and prlimit may change it
test_cgroup_that_comes_later() {
	local text faults_before free
	local faults='policy gone: there is no control group|policy odd.congestion_control: this kernel offers'
	local missing='warning: policy late: there is no control group .*/group/sub now'
	local no_descriptor='error: .* of the policies.*Too many open files'
	host a
	text="[policy late]\ncgroup = $sub_name\ncongestion_control = cubic
		[policy gone]\ncgroup = /no/such/group
		[policy odd]\nremote_port = 7009\ncongestion_control = nonesuch"
	start_with "$text"
	in_log "$missing"
	wait_output = 2 times_logged "$faults"
	expect_eq "$(metric tcptuned_policy_cgroups_missing)" 2 "control groups missing"
	expect_eq "$(meet 127.0.0.1 7001)" bitcp "before"
	# A scan has some for a moment.
	free=$(seq 0 500 | grep -vxF -f <(comm -12 <(descriptors) <(sleep 0.5; descriptors)) | head -n 1)
	prlimit --pid "$(pid_of tcptuned)" --nofile=$((free + 1)):
	mkdir -p "$sub/deeper"
	in_log 'policy late: control group .* has come, gone'
	in_log "$no_descriptor"
	sleep 5.5 # the daemon tries again
	expect_eq "$(times_logged "$no_descriptor")" 1 "errors without a request"
	kill -HUP "$(pid_of tcptuned)"
	# once for the new configuration, once for the one before it
	wait_output = 3 times_logged "$no_descriptor"
	prlimit --pid "$(pid_of tcptuned)" --nofile=1024:
	wait_output = 2 times_logged 'policies in force, installed'
	expect_eq "$(CLIENT_PREFIX=in_sub meet 127.0.0.1 7002)" cubic "after"
	expect_eq "$(metric tcptuned_policy_cgroups_missing)" 1 "control groups missing"
	faults_before=$(times_logged "$faults")
	rmdir "$sub/deeper" "$sub"
	wait_output = 2 times_logged "$missing"
	mkdir "$sub"
	wait_output = 4 times_logged 'policies in force, installed' # when it went, and when it came
	expect_eq "$(times_logged "$faults")" "$faults_before" "lines about other policies' faults"
	reload "$text\n" 'reloaded: nothing differs'
	expect_eq "$(times_logged "$faults")" $((faults_before + 2)) "after a reload"
}

# The first connections of a service that starts have its policy.
# virtual: a duration is measured
test_cgroup_that_comes_is_seen_at_once() {
	local i
	host a
	start_with "[policy late]\ncgroup = $sub_name\ncongestion_control = reno"
	for i in 1 2 3; do
		mkdir -p "$sub/deeper"
		sleep 0.3 # the daemon looks each five seconds for what it cannot watch
		expect_eq "$(CLIENT_PREFIX=in_sub meet 127.0.0.1 $((7001 + i)))" reno "start $i"
		rmdir "$sub/deeper" "$sub"
	done
}

# A daemon without all capabilities, as under systemd, may not be able to read a service's control group: its
# connections get the default policy, and a warning is logged.
test_cgroup_that_cannot_be_read() {
	host a
	mkdir -p "$sub/deeper"
	chown nobody "$sub"
	chmod 700 "$sub"
	TCPTUNED_PREFIX="setpriv --bounding-set=-dac_override,-dac_read_search" \
		start_with "[policy closed]\ncgroup = $sub_name/deeper\ncongestion_control = cubic"
	in_log 'warning: policy closed: control group .*/deeper cannot be accessed: Permission denied'
	expect_eq "$(metric tcptuned_policy_cgroups_missing)" 1 "control groups missing"
	expect_eq "$(CLIENT_PREFIX=in_sub meet 127.0.0.1 7001)" bitcp "its connections"
	chmod 755 "$sub"
	in_log 'policy closed: control group .* has come, gone'
	wait_output = 2 times_logged 'policies in force, installed'
	expect_eq "$(CLIENT_PREFIX=in_sub meet 127.0.0.1 7002)" cubic "once it can be read"
}

expect_policy() { # POLICY: RULE LOCAL REMOTE [OPTION...]
	expect_eq "$(ctl_json '.policy + ": " + .rule' policy test "${@:2}")" "$1" "policy of ${*:2}"
}

# Opens a connection that has carried enough for a record and is idle.
idle() { # NAME ADDRESS PORT [STEP-OF-CLIENT...]
	application "$1-server" a tcp4 listen $2 $3 accept receive 3000000 until end
	application "$1" a tcp4 "${@:4}" connect $2 $3 send 3000000 until end
	wait_until eval "[ -n \"\$(flow_to $3 .local)\" ]"
}

test_listed_and_tested() {
	local rule
	addresses
	mkdir -p "$sub/deeper"
	printf '10.3.0.0/16\n' >"$TEST_DIR/prefixes"
	start_with "[policy wide]\ndestination = 10.0.0.0/8, 2001:db8::/32\ncongestion_control = cubic
		[policy narrow]\ndestination = 10.1.0.0/16\nsource = 192.0.2.0/24\nremote_port = 80-90
		[policy list]\ndestination_file = $TEST_DIR/prefixes\nmode = observe
		[policy exempt]\ndestination = 10.2.0.0/16\nmode = off
		[policy group]\ncgroup = $sub_name"
	expect_eq "$(ctl_json '[.policies[].policy]' policy list)" \
		'["default","wide","narrow","list","exempt","group"]' "in the order of the file"
	rule="destination 10.1.0.0/16, source 192.0.2.0/24, remote port 80-90"
	expect_eq "$(ctl_json '.policies[2, 3].rule' policy list)" \
		"$rule"$'\n'"destination in $TEST_DIR/prefixes (1 prefixes)" "conditions of two"
	expect_policy "narrow: $rule" 192.0.2.1 10.1.1.1:80
	expect_policy "wide: destination 2001:db8::/32" ::1 [2001:db8::1]:80
	expect_match "$(ctl policy test 192.0.2.1 10.2.1.1)" "mode +off: left to the kernel" "test"
	expect_policy "group: cgroup $sub_name" 192.0.2.1 198.51.100.1 --cgroup "$sub_name/deeper"
	expect_policy "default: every connection" 192.0.2.1 198.51.100.1 --cgroup "${sub_name%/*}"
	ctl_refuses 2 "cgroup: there is no control group /no/such" policy test 1.2.3.4 1.2.3.4 --cgroup /no/such
	ctl_refuses 2 "cgroup: not with policy list" policy list --cgroup /
	idle one 10.1.1.1 7001
	expect_eq "$(ctl_json '[.policies[].connections]' policy list)" '[0,2,0,0,0,0]' "both ends"
	expect_match "$(ctl explain "$(flow_to 7001 .local)" 10.1.1.1:7001 | tr -s '\n ' ' ')" \
		" policy wide by its rule destination 10.0.0.0/8 congestion control " "explain"
}

# A policy that observes sets nothing, not for the first segment either.
test_observing_changes_nothing() {
	local theirs all="mode = observe\ncongestion_control = cubic"
	local steps=(get rcvbuf,sndbuf,locks,clamp,wscale)
	CONGESTION=reno host a
	theirs=$(meet 127.0.0.1 7001 "${steps[@]}" | sed 's/$/ |/' && answers_of server)
	# It sets no sysctl either: net.ipv4.tcp_rmem, of all connections, bounds the window scale.
	start_with "[policy]\nmode = off\n[policy there]\nremote_port = 7001\n$all\n[policy here]\nlocal_port = 7001\n$all"
	expect_eq "$(meet 127.0.0.1 7001 "${steps[@]}" | sed 's/$/ |/' && answers_of server)" "$theirs" "both ends"
	idle one 127.0.0.1 7001
	expect_eq "$(flow_to 7001 '[.policy, .congestion_control, .flags]')" \
		'["there","reno",["observe"]]' "what is listed of it"
	ctl explain "$(flow_to 7001 .local)" 127.0.0.1:7001 >"$TEST_DIR/said"
	expect_match "$(<"$TEST_DIR/said")" "there; observed: " "explain"
}

# A disabled policy stays disabled after a reload and after the daemon was killed, until a clean stop.
test_enabled_and_disabled() {
	local text="[policy far]\ndestination = 10.1.0.0/16\ncongestion_control = cubic
		[policy near]\ndestination = 10.1.1.0/24\ncongestion_control = reno"
	addresses
	start_with "$text"
	expect_eq "$(meet 10.1.1.1 7001)" reno "near"
	expect_match "$(ctl policy disable near)" "near is disabled, for connections made from now on" "said"
	expect_eq "$(meet 10.1.1.1 7001)" cubic "the next most specific"
	expect_match "$(ctl policy disable near)" "near was disabled already" "said"
	expect_eq "$(ctl_json '[.policies[] | [.policy, .disabled, .mode]]' policy list)" \
		'[["default",false,"tune"],["far",false,"tune"],["near",true,"off"]]' "list"
	reload "$text\nreceive_window_max = 3M" 'policy near.receive_window_max: auto -> 3M'
	expect_eq "$(meet 10.1.1.1 7001)" cubic "after a reload"
	tcptuned_kill
	tcptuned_start --config="$TEST_DIR/my.conf"
	in_log 'policy near stays disabled'
	expect_eq "$(meet 10.1.1.1 7001)" cubic "after the daemon was killed"
	expect_match "$(ctl policy enable near)" "near is enabled" "said"
	expect_eq "$(meet 10.1.1.1 7001)" reno "near again"
	ctl policy disable default >/dev/null
	expect_eq "$(meet 127.0.0.1 7001 record)" "reno record no" "without the default policy"
	ctl policy disable far >/dev/null
	ctl_refuses 2 "policy: there is no naer; did you mean near\?" policy disable naer
	ctl_refuses 2 "an argument is missing; the usage is tcptunectl policy enable NAME" policy enable
	tcptuned_stop
	tcptuned_start --config="$TEST_DIR/my.conf"
	expect_eq "$(ctl_json '[.policies[].disabled]' policy list)" "[false,false,false]" restarted
}

# A reload changes nothing of open connections; `policy apply` does.
test_applied_to_open_connections() {
	local started p="[policy p]\nremote_port = 7001\n"
	addresses
	start_with "${p}congestion_control = cubic\nreceive_window_max = 5M"
	application server a tcp4 listen 127.0.0.1 7001 accept receive 3000000 until end
	application one a tcp4 connect 127.0.0.1 7001 send 3000000 until more send 60000 until end
	wait_output = 3000001 carried acked_bytes p yes # with the SYN
	started=$(metric tcptuned_adoption_duration_seconds)
	facts() { flow_to 7001 '[.policy, .congestion_control, .receive.window_max_bytes]'; }
	apply() { ctl_json '[.moved, .attached, .detached, .failed]' policy apply; }
	expect_eq "$(facts)" '["p","cubic",5242880]' "as made"
	reload "${p}congestion_control = bbr\nreceive_window_max = 6M" 'p.receive_window_max: 5M -> 6M'
	expect_eq "$(facts)" '["p","cubic",5242880]' "after the reload"
	expect_eq "$(apply)" "[2,0,0,0]" "applied, to both ends"
	expect_eq "$(metric tcptuned_adoption_duration_seconds)" "$started" "seconds of the start's"
	expect_eq "$(facts)" '["p","bbr",6291456]' "on request"
	expect_eq "$(carried acked_bytes p yes)" 3000001 "bytes acked, counted once"
	expect_eq "$(carried received_bytes default yes)" 3000000 "bytes received at the other end"
	reload "${p}mode = off" 'policy p.mode: tune -> off'
	expect_eq "$(apply)" "[1,0,1,0]" "off"
	expect_eq "$(facts)" "" "no record"
	expect_match "$(in_host a ss -tinOH 'dport = :7001')" reno "the kernel's congestion control"
	expect_eq "$(carried acked_bytes p yes)" 3000001 "bytes acked until then"
	reload "${p}mode = observe" 'policy p.mode: off -> observe'
	ctl policy apply >"$TEST_DIR/said"
	if ! has_linux 6.12; then
		expect_match "$(<"$TEST_DIR/said")" "1 moved to another policy, 0 attached" "said"
		expect_match "$(<"$TEST_DIR/said")" "^1 are left to the kernel: .* needs Linux 6.12" "said"
		tcptuned_stop
		return
	fi
	expect_match "$(<"$TEST_DIR/said")" "1 moved to another policy, 1 attached, 0 detached" "said"
	expect_eq "$(flow_to 7001 '[.congestion_control, (.flags | index("observe") != null)]')" \
		'["reno",true]' "observed"
	expect_eq "$(carried acked_bytes p no)" 0 "bytes acked since it is observed"
	: >"$TEST_DIR/more"
	wait_output = 60000 carried acked_bytes p no
	reload "${p}congestion_control = cubic" 'policy p.mode: observe -> tune'
	ctl policy apply >/dev/null
	expect_eq "$(flow_to 7001 .congestion_control)" cubic "attached"
	finish end one server
	wait_output = 2 metric tcptuned_connections_closed_total
	expect_between "$(carried acked_bytes p yes)" 3000001 3000002 "bytes acked while tuned, perhaps with the FIN"
	expect_eq "$(carried acked_bytes p no)" 60000 "bytes acked while observed"
	expect_between "$(carried received_bytes default yes)" 3060000 3060001 "bytes received at the other end"
}

# Under a transfer whose payload is verified: from one policy to another and back.
test_applied_under_traffic() {
	local i one="[policy p]\ndestination = 10.99.0.0/30\n" mode modes="observe tune"
	! has_linux 6.12 || modes+=" off tune" # a released connection is managed again
	configured_path "${one}mode = tune" --rate 100mbit --delay 5ms --queue 1MB
	watch
	stream one 7101 --duration 280 --verify
	sleep 0.7
	for mode in $modes; do
		configure "${one}mode = $mode\nsend_window_max = 4M"
		kill -HUP "$(pid_of tcptuned)"
		wait_output = $mode ctl_json ".policies[1].mode" policy list
		ctl policy apply >/dev/null
		sleep 0.4
	done
	expect_eq "$(flow_to 7101 '.policy, .send.window_max_bytes, (.flags | index("observe"))' |
		xargs)" "p 4194304 null" "tuned again"
	wait_output -ge 1 flow_to 7101 .send.rate_best_bytes_per_s # ... and measured
	# The lock of a buffer that was sized here is not the application's.
	expect_eq "$(flow_to 7101 .send.request)" none "the sender's"
	expect_eq "$(flow 7101 .receive.request)" none "the receiver's"
	wait_output -ge 1100 ss_of a "dport = :7101" 'segs_in:([0-9]+)'
	stream_stop one
	expect_payload one
	expect_no_retraction 1 1000
}

# The receiver sets an option half-way through a transfer.
request_on_open() { # PORT OPTION VALUE
	application "server-$1" b tcp4 listen "${ADDR[b]}" $1 accept receive 30000000 say half \
		until ask-$1 set $2 $3 say asked until go-$1 receive 3000000 say through until stopped \
		get $2
	application "client-$1" a tcp4 connect "${ADDR[b]}" $1 send 33000000 until stopped
	wait_printed server-$1 half
	expect_ge "$(flow $1 .receive.budget_granted_bytes)" 100000 "granted by the budget"
	proceed ask-$1 server-$1 asked
	expect_eq "$(flow $1 '.receive | [.budget_granted_bytes, .budget_wanted_bytes]')" \
		"[0,0]" "granted and wanted after set $2"
	proceed go-$1 server-$1 through
}

# An application may fix the buffer of an open connection, if its policy allows it, or its window. What the
# budget had granted is then for others, and a stop leaves the application's value.
test_a_request_on_an_open_connection_is_honoured() {
	# The budget grants only what is beyond the kernel's own limit.
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 131072"
	configured_path "[policy theirs]\nlocal_port = 7001-7002\noverride_rcvbuf = no" \
		--rate 100mbit --delay 5ms --queue 1bdp
	request_on_open 7001 rcvbuf 40000
	request_on_open 7002 clamp 60000
	request_on_open 7003 clamp 60000
	tcptuned_stop
	finish stopped server-7001 server-7002 server-7003
	expect_eq "$(tail -n 1 "$TEST_DIR/server-7001.log")" "rcvbuf 80000" "after all"
}

# The kernel gets a request whose policy only observes. Once the policy tunes, the application reads the
# same size, and has it again, as its window, after the stop.
test_an_observed_request_is_restored() {
	local p="[policy p]\nlocal_port = 7001\n"
	configured_path "${p}mode = observe" --rate 100mbit --delay 5ms --queue 1bdp
	application server b tcp4 listen "${ADDR[b]}" 7001 accept set rcvbuf 40000 say asked \
		until tuned get rcvbuf receive 4000000 say got until stopped receive 1000000 \
		get rcvbuf say over
	application client a tcp4 connect "${ADDR[b]}" 7001 send 4000000 until stopped send 1000000 \
		until over
	wait_printed server asked
	reload "${p}mode = tune" 'policy p.mode: observe -> tune'
	ctl policy apply >/dev/null
	proceed tuned server got
	expect_eq "$(sed -n 's/^rcvbuf //p' "$TEST_DIR/server.log")" 80000 "its size when tuned"
	# 250 KB per round trip, of which the buffer holds twice as much, and as much again.
	expect_between "$(flow 7001 .receive_buffer_bytes)" 100000 5000000 "its buffer then"
	expect_eq "$(flow 7001 .receive.kernel_max_bytes)" 80000 "what the kernel would have given"
	tcptuned_stop
	expect_le "$(ss_of b "sport = :7001 and dport != :0" 'rcv_ssthresh:([0-9]+)')" 80000 window
	proceed stopped server over
	expect_le "$(sed -n 's/^rcvbuf //p' "$TEST_DIR/server.log" | tail -n 1)" 5000000 "and then"
}

says_maximum() {
	ctl explain "$(flow_to 7301 .local)" "$(flow_to 7301 .remote)" | grep "the policy's maximum of 262144"
}

# A policy's send_window_max also bounds a buffer that the host's tcp_wmem lets grow beyond it, until the
# policy is changed.
test_send_window_max_of_a_policy() {
	local small='[policy]\ncongestion_control = keep\n[policy small]\nremote_port = 7301\n'
	# The queue is too short for a test, which would make the buffer smaller for a time.
	configured_path "${small}send_window_max = 256K\n" --rate 200mbit --delay 20ms --queue 1bdp
	stream small 7301 --duration 280 --congestion cubic
	stream other 7302 --duration 280 --congestion cubic
	wait_output -ge 1000000 flow_to 7302 .send_buffer_bytes
	wait_output = capped flow_to 7301 .send.reason
	# The kernel only enlarges it, when cwnd grows, and then the next round trip makes it small again.
	for _ in 1 2 3; do
		wait_output -le 524288 flow_to 7301 .send_buffer_bytes
		sleep 0.3
	done
	expect_ge "$(flow_to 7301 .send_buffer_bytes)" 400000 "its send buffer"
	expect_ge "$(counter tcptuned_rightsize_caps_total '{direction="send"}')" 1 "caps"
	wait_until says_maximum # a loss may leave it less for a moment
	stream_stop other
	reload "${small}send_window_max = 8M\n" 'policy small.send_window_max: 256K -> 8M'
	ctl policy apply >/dev/null
	wait_output -ge 800000 flow_to 7301 .send_buffer_bytes
	stream_stop small
}

# Messages of 100 bytes, one each 10 ms, are 10 kB/s, and not as many full segments.
# virtual: a rate is measured
test_rate_of_small_messages() {
	configured_path '' --rate 100mbit --delay 5ms
	stream small 7301 --duration 280 --bytes 100 --interval 10
	wait_output -ge 5000 flow_to 7301 .send.rate_best_bytes_per_s
	sleep 2
	expect_le "$(flow_to 7301 .send.rate_best_bytes_per_s)" 30000 "bytes per second"
	stream_stop small
}
