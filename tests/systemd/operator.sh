# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Tests of `run` in a machine to which an operator brings the package: the session of docs/operations.md, and the role
# of contrib/ansible.

# Boots a machine without tcptuned. $scratch/packages has the package of this build, and one of the next version.
start_without_tcptuned() {
	local stage=$scratch/bare
	machine_stop || :
	trap 'trap - ERR; set +e; machine_stop' EXIT
	restore_sysctls
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	[ -d "$scratch/packages" ] || make_packages
	mkdir -p "$stage"/{var/lib/apt/lists/partial,var/cache/apt/archives/partial,root}
	install -D -t "$stage/usr/local/bin" "$build/messages" "$build/linkem"
	install -D /dev/stdin "$stage/etc/tcptuned/tcptuned.conf.d/machine.conf" <<<$'[tcptuned]\ncgroup = /sys/fs/cgroup'
	machine_start "$stage" || fail "$why"
}

# What is built is not built again.
make_packages() {
	local sources=$scratch/packages/sources
	# shellcheck disable=SC2046
	find_debian_tree bookworm $("$top/setup.sh" build --list) build-essential debhelper || fail "$why"
	copy_sources "$sources"
	mkdir "$sources/build"
	tar -C "$build" --exclude=./{asan,fuzz,lane,other,unit} -cf - . | tar -C "$sources/build" -xf -
	in_debian_tree "$scratch/packages" 'cd /mnt/sources && DEB_BUILD_PROFILES=nocheck \
		DEB_BUILD_OPTIONS="nocheck noautodbgsym" debian/rules binary' >"$scratch/package.log" 2>&1 ||
		fail "$(tail -n 20 "$scratch/package.log")"
	mkdir "$scratch/packages/newer"
	make_newer_package "$scratch"/packages/tcptuned_*.deb "$scratch/packages/newer"
	rm -r "$sources"
}

# --- the session of docs/operations.md: each command is run, and prints the lines that the page shows -------------

# A word with a digit is any such word, and "..." anything. A receiver that got the processor late once may read so much at
# once that the kernel makes its buffer larger than its own maximum was: then the answer "sender" has a second part. On
# a busy host segments may wait where the page has no QUEUE.
to_pattern() { # LINE
	sed -E 's/[][\.*^$+?(){}|]/\\&/g; s/(\\\.){3}/.*/g; s/[^ ]*[0-9][^ ]*/[^[:blank:]]*[0-9][^[:blank:]]*/g
		s/ - +cubic/ (-|[0-9.]+m?s)  cubic/; s/ +/ +/g; s/\+sender$/&(, window earned)?/' <<<"$1"
}

# It may fail if the page shows that it failed.
prints_what_the_page_shows() {
	local shell=(machine_run sh -ec) status=0 line
	[[ $command == '# '* ]] || shell=(bash -ec) # where Prometheus runs
	"${shell[@]}" "cd /root; ${command#??}" >"$scratch/said" 2>&1 </dev/null || status=$?
	[ $status = 0 ] || [[ "${shown[*]}" == *failed* ]] || return
	for line in "${shown[@]}"; do
		grep -qxE -- "$(to_pattern "$line")" "$scratch/said" || return
	done
}

# What only asks is asked again, as a person does.
play_command() {
	local play=
	[ -n "$command" ] || return 0
	[[ $command != @('# tcptunectl'|'# journalctl'|'$ promtool')* ]] || play=wait_until
	($play prints_what_the_page_shows) ||
		fail "$command"$'\nprinted\n'"$(<"$scratch/said")"$'\nand the page shows\n'"$(printf '%s\n' "${shown[@]}")"
	note "$command"$'\n'"$(<"$scratch/said")"
	command= shown=()
}

play_session() {
	local line command= shown=() step=0
	while IFS= read -r line; do
		case $line in
		'    # '* | '    $ '*) play_command; command=${line#    } ;;
		'    > '*) command+=$'\n'${line#    > } ;;
		'    '*) shown+=("${line#    }") ;;
		'**'[1-9]*) play_command; after_step $step; step=$((step + 1)) ;;
		esac
	done < <(sed -n '/^## Ten steps/,/^## [^T]/p' "$top/docs/operations.md")
	play_command
	after_step $step
	expect_eq $step 10 "steps"
}

# 400 Mbit/s and 50 ms to the peer.
make_path() {
	machine_run sh -ec 'mkdir /dev/net; mknod /dev/net/tun c 10 200
		for host in here there; do ip netns add $host; ip -n $host link set lo up; done'
	machine_run linkem --ns-a there --ns-b here --rate 400mbit --queue 1bdp >"$scratch/linkem.log" 2>&1 &
	wait_until grep -q ready "$scratch/linkem.log"
}

# Starts a service that fixes the buffers of its connections.
start_service() { # NAME PORT SIZE
	machine_run systemd-run -q --unit="$1" ip netns exec here messages --listen 10.99.0.2 --port "$2" --rcvbuf "$3"
	wait_until eval "machine_run ip netns exec here ss -Hln sport = :$2 | grep -q ."
}

# The peer is in no control group that the machine's tcptuned tunes.
send_from_the_peer() { # PORT OPTION_OF_MESSAGES...
	nsenter --target "$machine_init" --mount --pid --root --wd=/ \
		/usr/bin/ip netns exec there /usr/local/bin/messages --connect 10.99.0.2 --port "$@"
}

send_steadily() { send_from_the_peer "$1" --duration 3000 --bytes 100KB --interval 20; } # PORT

# Short connections, one batch after the other, until the service ends.
send_batches() { # PORT
	while send_from_the_peer "$1" --streams 20 --count 20 --bytes 3MB; do :; done
}

# Prometheus, with the rules of contrib/, but alerts fire at once.
start_prometheus() {
	sed 's/for: .*/for: 1s/' "$top/contrib/prometheus/tcptuned.rules.yml" >"$scratch/rules.yml"
	cat >"$scratch/prometheus.yml" <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: ["$scratch/rules.yml"]
		scrape_configs:
		- {job_name: tcptuned, static_configs: [{targets: ["127.0.0.1:9817"]}]}
	END
	setpriv --pdeathsig TERM prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" \
		--web.listen-address=127.0.0.1:9090 >"$scratch/prometheus.log" 2>&1 &
}

query() { curl -sG --data-urlencode "query=$1" 127.0.0.1:9090/api/v1/query | jq -r '.data.result[].value[1]'; }
flows() { machine_run tcptunectl flows --json | jq -c "[.flows[] | $1]"; } # JQ_FILTER

# Prepares the next step, too.
after_step() { # NUMBER
	case $1 in
	0)
		make_path
		machine_run sh -c 'cat >/root/tcptuned_1_amd64.deb' <"$(ls "$scratch"/packages/tcptuned_*.deb)"
		;;
	1)
		expect_property ActiveState active
		expect_property UnitFileState enabled
		start_service replica 5500 64K
		start_service backup 5600 64K
		send_steadily 5500 >"$scratch/replica.log" 2>&1 &
		send_steadily 5600 >"$scratch/backup.log" 2>&1 &
		;;
	4)
		expect_eq "$(flows .local)" '["10.99.0.2:5500"]' "connections that have a record"
		start_prometheus
		start_service ingest 5700 64K
		send_batches 5700 >"$scratch/ingest.log" 2>&1 &
		;;
	6)
		wait_output -ge 1 query 'max_over_time(tcptuned_connections_limited{direction="receive",limit="receiver_window"}[1m])'
		expect_eq "$(query 'sum(tcptuned_policy_info)')" 2 "policies"
		;;
	7)
		expect_property ActiveState active
		machine_run systemctl stop ingest
		;;
	8)
		wait_output = '[true]' flows '.flags | index("observe") != null' # those of ingest have ended
		before=$(property MainPID)
		machine_run sh -c 'rm /root/*.deb; cat >/root/tcptuned_2_amd64.deb' <"$(ls "$scratch"/packages/newer/*.deb)"
		;;
	9)
		restarted "$before" || fail "it was not restarted"
		expect_eq "$(flows '[.receive.requested_bytes, (.flags | index("observe"))]')" '[[65536,null]]' \
			"bytes requested, by the record of before, and whether it is only observed"
		;;
	10)
		expect_nothing_left
		expect_eq "$(machine_run systemctl is-active replica backup | xargs)" "active active" "services"
		expect_eq "$(machine_run find / -xdev -name '*tcptuned*' -not -path '/root/*' -not -path '/var/log/*' \
			-not -path '/tmp/*')" "" "files left"
		;;
	esac
}

test_the_session_of_an_operator() {
	local before
	start_without_tcptuned
	kernel_state >"$scratch/before" || : # grep cannot read all
	play_session
}

# --- the role of contrib/ansible ------------------------------------------------------------------------------------

# The two hosts are the machine. Instead of ssh there is a program whose last argument is the command.
make_inventory() {
	export machine_cgroup machine_init
	export -f machine_run
	install -m 755 /dev/stdin "$scratch/ssh" <<-'END'
		#!/bin/bash
		machine_run HOME=/root sh -c "${!#}"
	END
	cat >"$scratch/hosts" <<-END
		[tcptuned]
		one
		two
		[tcptuned:vars]
		ansible_ssh_executable=$scratch/ssh
		ansible_ssh_transfer_method=piped
		ansible_python_interpreter=/usr/bin/python3
		ansible_become=false
	END
}

# Plays contrib/ansible/rollout.yml. $played is what it printed.
roll_out() { # TEXT_OF_DROP_IN [OPTION...]
	local status=0
	played=$(HOME=$scratch ANSIBLE_PIPELINING=1 ANSIBLE_NOCOLOR=1 ansible-playbook -i "$scratch/hosts" \
		-e "$(jq -n --arg deb "$package" --arg config "$1" '{tcptuned_deb: $deb, tcptuned_config: $config}')" \
		"${@:2}" "$top/contrib/ansible/rollout.yml" 2>&1) || status=$?
	note "$played"
	return $status
}

expect_recap() { expect_match "$played" "^$1 .* changed=$2 .* failed=$3" "sum of host $1"; } # HOST CHANGED FAILED

# The second host finds done what was done for the first one: nothing changes.
test_the_role_of_ansible() {
	local package played pid bitcp=$'[policy]\ncongestion_control = bitcp' dropin=/etc/tcptuned/tcptuned.conf.d
	start_without_tcptuned
	make_inventory
	package=$(ls "$scratch"/packages/tcptuned_*.deb)
	! roll_out $'[policy]\nmode = sideways' --limit one || fail "a wrong drop-in is accepted"
	expect_eq "$(machine_run systemctl is-active $unit) $(machine_run systemctl is-enabled $unit)" "inactive disabled" \
		"the unit of a host that has no drop-in yet"
	roll_out "$bitcp"
	expect_recap one 3 0
	expect_recap two 0 0
	# A wrong file does not replace the one before, and is the end of the rollout.
	! roll_out $'[policy]\nmode = sideways' || fail "a wrong drop-in is accepted"
	expect_match "$played" 'ansible.conf:2: policy.mode: ..sideways' "message"
	expect_recap one 0 1
	! grep -q '^two ' <<<"$played" || fail "the rollout goes on"
	expect_eq "$(machine_run cat $dropin/ansible.conf)" "$bitcp" "drop-in"
	roll_out '' --check --limit one
	expect_recap one 2 0
	expect_eq "$(machine_run cat $dropin/ansible.conf)" "$bitcp" "drop-in after check mode"
	begin_transfer
	pid=$(property MainPID)
	package=$(ls "$scratch"/packages/newer/*.deb)
	roll_out "$bitcp" --limit one
	expect_recap one 2 0
	restarted "$pid" || fail "the upgrade has restarted nothing"
	expect_eq "$(requested)" $locked "bytes requested, by the record of before the upgrade"
	is_tuned
	end_transfer
	# doctor is the gate of each batch.
	printf 'wrong' | machine_run tee $dropin/z.conf
	! machine_run systemctl reload $unit || fail "systemctl reload succeeded"
	wait_output = 0 metric tcptuned_config_last_reload_successful
	machine_run rm $dropin/z.conf
	! roll_out "$bitcp" || fail "the rollout goes on where doctor finds fault"
	expect_match "$played" 'fail  configuration: the last reload was rejected' "message of doctor"
	! grep -q '^two ' <<<"$played" || fail "the rollout goes on"
	machine_run apt-get purge -y tcptuned
}
