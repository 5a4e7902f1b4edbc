# SPDX-License-Identifier: GPL-2.0-only
# Bad input: one line names file, line and remedy, the exit status its kind, and nothing changes.

. "$TEST_TOP/tests/system/daemon.sh"

# Cgroup, lock and port are the test's own.
tcptuned_here() { # [OPTION...]
	timeout -k 5 120 "$TEST_BUILD/tcptuned" "${daemon_options[@]}" "$@"
}

# A command ends with STATUS and one line that matches PATTERN and has a remedy after a semicolon, and the
# host is as before.
refused() { # STATUS PATTERN COMMAND...
	keep_host_state
	expect_refused "$1" "^[-0-9]+ [0-9:.]+ error: .*$2" "${@:3}"
	expect_match "$said" "[;?].|\?$" "a remedy"
	expect_host_state
	note "$1: $said"
}

# A configuration file is refused by a start and by --check-config.
refused_config() { # LINE PATTERN TEXT
	local line=$1 pattern=$2 file=$TEST_DIR/bad.conf
	printf '%b' "$3" >"$file"
	refused 10 "$file:$line: $pattern" tcptuned_here --config="$file"
	refused 10 "$file:$line: $pattern" "$TEST_BUILD/tcptuned" --check-config --config="$file"
}

# tests/unit/test_config.c tries every key.
test_command_line_and_configuration() {
	refused_config 3 "metrics.port: .*it takes " "# one\n[metrics]\nport = http\n"
	refused_config 2 "policy web.destination: .*it takes " "[policy web]\ndestination = 10.0.0.1/8\n"
	refused_config 2 "policy web.cgroup: .*; write /a.slice" "[policy web]\ncgroup = /sys/fs/cgroup/a.slice\n"
	refused 2 "did you mean --foreground\?" "$TEST_BUILD/tcptuned" --forground
	refused 2 "write --config=FILE" "$TEST_BUILD/tcptuned" --config
	refused 2 "takes options only" "$TEST_BUILD/tcptuned" start
	refused 10 "--set: metrics.port: .*it takes" tcptuned_here --set=metrics.port=http
}

# A directory of this test that all users may write to, with a copy of the program.
open=/mnt

unprivileged_ground() {
	mount -t tmpfs -o mode=1777 tmpfs "$open"
	cp "$TEST_BUILD/tcptuned" "$open/tcptuned"
}

test_unprivileged() {
	local foreground good=("${nobody[@]}" "$open/tcptuned" --config="$open/good.conf")
	unprivileged_ground
	: >"$open/good.conf"
	refused 4 "runtime_directory|as root" "${good[@]}" --foreground \
		--set=tcptuned.runtime_directory=/run/tcptuned-nobody
	# With a directory of its own the kernel refuses it, also in the background.
	for foreground in --foreground ""; do
		refused 4 "root" "${good[@]}" $foreground --set=metrics.port="$METRICS_PORT" \
			--set=tcptuned.runtime_directory="$open/run"
	done
	refused 4 "only root may have paths forgotten" "${good[@]}" --forget-paths=all \
		--set=tcptuned.state_directory="$open/state"
	"${good[@]}" --check-config >/dev/null
	: >"$open/secret.conf"
	chmod 600 "$open/secret.conf"
	refused 10 "secret.conf: Permission denied; run tcptuned as root" \
		"${nobody[@]}" "$open/tcptuned" --config="$open/secret.conf"
}

# No descriptor of the daemon's takes the place of a standard one, which it redirects once it runs.
test_background_without_standard_files() {
	unset 'daemon_options[0]'
	tcptuned_here <&- >&- 2>&-
	refused 20 "another tcptuned runs .*;" tcptuned_here
	kill "$(<"$TEST_DIR/run/lock")"
	wait_until has_gone "$(<"$TEST_DIR/run/lock")"
	! "$TEST_BUILD/tcptuned" --help-config 2>"$TEST_DIR/said" >/dev/full || fail "all was written"
	expect_match "$(<"$TEST_DIR/said")" 'standard output: No space left' "--help-config"
}

# Root without all capabilities, as under the unit: the advice to run it as root would not help.
test_root_without_all_capabilities() {
	unprivileged_ground
	: >"$open/secret.conf"
	chown 65534 "$open/secret.conf"
	chmod 600 "$open/secret.conf"
	refused 10 "secret.conf: Permission denied; root is refused as well: .*/etc/tcptuned" \
		setpriv --bounding-set=-dac_override,-dac_read_search "$open/tcptuned" \
		--config="$open/secret.conf"
	mount -o remount,ro /sys/fs/bpf
	refused 4 "tcptuned.bpffs: .*: Read-only file system; under systemd, .*ReadWritePaths=" \
		tcptuned_here
}

test_port_in_use() {
	background holder iperf3 --server --forceflush --bind 127.0.0.1 --port "$METRICS_PORT"
	wait_printed holder listening
	refused 20 "$METRICS_PORT.*;" tcptuned_here
	stop holder KILL || :
}

# systemd passes two sockets if tcptuned.socket has two ListenStream=.
two_sockets() {
	LISTEN_FDS=2 bash -c 'LISTEN_PID=$$ exec "$@"' two_sockets "$@" 3</dev/null 4</dev/null
}

test_two_sockets_of_systemd() {
	refused 10 "systemd passed 2 sockets.*;" two_sockets "$TEST_BUILD/tcptuned" "${daemon_options[@]}"
}

# An exit status of a kernel that lacks something would end the retries of systemd.
test_no_memory_for_programs() {
	expect_refused 1 "cannot be loaded: Cannot allocate memory" \
		"$TEST_BUILD/tests/system/confine" full "$TEST_BUILD/tcptuned" "${daemon_options[@]}"
}

test_no_bpffs() {
	# the test's own, and the host's below it
	while findmnt -n -t bpf /sys/fs/bpf >/dev/null; do
		umount /sys/fs/bpf
	done
	refused 4 "/sys/fs/bpf.*mount -t bpf" tcptuned_here
	refused 4 "/nowhere.*mount" tcptuned_here --set=tcptuned.bpffs=/nowhere
	expect_match "$(ctl status 2>&1 || :)" "^tcptunectl: no tcptuned runs: no process listens on" "tcptunectl"
}

# Other users could replace what is pinned, and so have a stop detach any program.
test_unsafe_bpffs() {
	local pins=/sys/fs/bpf/tcptuned
	chmod 1777 /sys/fs/bpf
	refused 4 "/sys/fs/bpf may be written by others than root \(owner 0, mode 1777\).*chmod 0700 /sys/fs/bpf" \
		tcptuned_here
	refused 4 "mode 1777" tcptuned_here --check-load
	refused 4 "mode 1777" tcptuned_here --detach
	chmod 0700 /sys/fs/bpf
	mkdir -m 0700 $pins
	chown nobody $pins
	refused 4 "$pins may be written by others than root \(owner [0-9]{2,}, mode 0700\)" \
		tcptuned_here
	chown root $pins
	ln -s /sys/fs/bpf/elsewhere $pins/link_sockops
	refused 4 "$pins/link_sockops is a symbolic link" tcptuned_here
	refused 4 "is a symbolic link" tcptuned_here --detach
	rm $pins/link_sockops
	rmdir $pins
	ln -s elsewhere $pins
	refused 4 "$pins is not a directory" tcptuned_here
	rm $pins
	mkdir -m 0777 "$TEST_DIR/open"
	chmod 0777 "$TEST_DIR/open"
	refused 4 "$TEST_DIR/open is not a directory that root alone may write to" tcptuned_here --set=tcptuned.runtime_directory="$TEST_DIR/open"
	ln -s "$TEST_DIR/open" "$TEST_DIR/link"
	refused 4 "$TEST_DIR/link is a symbolic link" tcptuned_here --set=tcptuned.runtime_directory="$TEST_DIR/link"
	# A user who may only read it could still lock it; the daemon does not wait for that lock.
	chmod 0755 /sys/fs/bpf
	background holder setpriv --reuid=nobody --clear-groups flock /sys/fs/bpf sleep 60
	wait_until eval '! flock -n /sys/fs/bpf true'
	tcptuned_start
	tcptuned_stop
	stop holder || :
	chmod 0700 /sys/fs/bpf
}

# --check-config looks up what a start would: else an upgrade would end the daemon that runs for one that
# does not start.
test_what_the_configuration_names_is_missing() {
	local command check="$TEST_BUILD/tcptuned --check-config --config=$TEST_DIR/none.conf"
	for command in "$check" tcptuned_here; do
		refused 4 "$TEST_DIR is not in a cgroup2" $command --set=tcptuned.cgroup="$TEST_DIR"
		refused 4 "/nowhere: No such file" $command --set=tcptuned.cgroup=/nowhere
		refused 10 "there is no group nobodys" $command --set=control.group=nobodys
	done
	$check --set=tcptuned.cgroup="$TEST_CGROUP/group" --set=control.group=root >/dev/null
	awk '$3 == "cgroup2" { print $2 }' /proc/self/mounts | tac | xargs -n 1 umount -l
	refused 4 "mount -t cgroup2" tcptuned_here --set=tcptuned.cgroup=auto
}

# What may exist later is a warning.
test_what_policies_name_is_missing_now() {
	configure "[policy web]\ncgroup = /no.such.slice\n[policy far]\nlocal_port = 1\ncongestion_control = bbrr\n
		[policy here]\ncgroup = /\ncongestion_control = reno\n[policy ours]\nlocal_port = 2\ncongestion_control = bitcp"
	"$TEST_BUILD/tcptuned" --check-config --config="$TEST_DIR/my.conf" 2>"$TEST_DIR/said" >/dev/null
	expect_match "$(<"$TEST_DIR/said")" 'warning: policy web.cgroup: there is no control group /no.such.slice now' "a group"
	expect_match "$(<"$TEST_DIR/said")" 'warning: policy far.congestion_control: this kernel has no bbrr now; it offers .*reno' \
		"a congestion control"
	expect_eq "$(grep -c 'warning: policy' "$TEST_DIR/said")" 2 "warnings of policies"
	tcptuned_start --config="$TEST_DIR/my.conf"
	expect_eq "$(ctl_json '[.policies[] | select(.cgroup_missing).policy]' policy list)" \
		'["web"]' "policies of groups that do not exist"
	expect_match "$(ctl policy list)" 'cgroup  *does not exist now' "the same for people"
	expect_eq "$(ctl_json '[.policies[] | select(.congestion_control_missing) | .policy, .congestion_control_missing]' policy list)" \
		'["far","bbrr"]' "policies whose congestion control this kernel lacks"
	expect_match "$(ctl policy list)" 'congestion control  *left alone: this kernel does not offer bbrr now' "the same for people"
}

# With a lock of its own a second instance would still have the same pins.
test_second_instance() {
	local pid other_lock=--set=tcptuned.runtime_directory="$TEST_DIR/run2"
	local other_port=--set=metrics.port=$((METRICS_PORT + 1))
	tcptuned_start
	pid=$(pid_of tcptuned)
	refused 20 "another tcptuned runs.*$pid.*; stop" tcptuned_here $other_port
	refused 20 "another tcptuned runs.*$pid.*; stop" tcptuned_here $other_port --observe
	refused 20 "another tcptuned runs.*$pid.*; stop" tcptuned_here --detach
	refused 20 "another tcptuned runs.*; stop" tcptuned_here $other_port "$other_lock"
	refused 20 "another tcptuned runs.*; stop" tcptuned_here --detach "$other_lock"
	curl -sf -o /dev/null "$METRICS/metrics" || fail "the first no longer answers"
}

# The daemon reports why a new configuration is refused, and continues with the one before.
test_reload_of_a_bad_configuration() {
	local file=$TEST_DIR/my.conf
	start_with '[paths]\nexpire_s = 700\n'
	keep_host_state
	reload '[paths]\nexpire_s = 800\n\n[bitcp]\nbeta = 2\n' \
		"error: $file:5: bitcp.beta: \"2\" is too large; it takes"
	in_log "stays in force"
	expect_host_state
	expect_eq "$(metric 'tcptuned_config_reloads_total{result="rejected"}')" 1 "reloads rejected"
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 0 "the last one"
	expect_eq "$(ctl status --json | jq -r '.configuration | .in_force, .rejected[:'$((${#file} + 15))']')" \
		"false"$'\n'"$file:5: bitcp.beta:" "status of tcptunectl"
	# A fault that only all policies together have is found as early.
	printf '[memory]\nbudget = 8M\n\n[policy]\nreceive_window_max = 1G\n' >"$file"
	long_chain >>"$file"
	refused 10 "policy p[0-9]+: for 10.0.0.0/8 there are more than 4096 rules" \
		"$TEST_BUILD/tcptuned" --config="$file" --check-config
	kill -HUP "$(pid_of tcptuned)"
	wait_output = 2 times_logged "stays in force"
	expect_host_state
	expect_match "$(metric tcptuned_budget_bytes)" '^[1-9][0-9]{6,}$' "the budget in force"
	[ "$(metric tcptuned_budget_bytes)" != 8388608 ] || fail "it is the refused one's"
	# The key before the bad one was refused, too.
	reload '[paths]\nexpire_s = 800\n\n[metrics]\naddress = 127.0.0.2\n' "paths.expire_s: 700 -> 800"
	in_log "metrics.address: 127.0.0.1 -> 127.0.0.2 \(takes effect at the next start\)"
	wait_output = 1 metric 'tcptuned_config_reloads_total{result="ok"}' # a moment after the lines of the log
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 1 "the last one"
}
