# SPDX-License-Identifier: GPL-2.0-only
# Connections that a policy holds back: they are the kernel's, are compared with the others, and a policy whose
# tuning does harm stops.

. "$TEST_TOP/tests/system/daemon.sh"

# A policy for what arrives at port 7301, with lines of its own.
trial_path() { # LINES LINKEM OPTION...
	configure "[policy trial]\nlocal_port = 7301\nholdback = 50%\n$1"
	tuned_path "--config=$TEST_DIR/my.conf --set=policy.congestion_control=keep" "${@:2}"
}

connections() { # JQ_FILTER
	ctl_json "[.flows[] | select(.state == \"established\") | $1]" flows --local-port 7301 --limit 1000
}

# A listener's fixed buffer holds for those that are held back, and for no other. policy test says who is.
test_trial_leaves_what_is_held_back_to_the_kernel() {
	local local remote held answer
	trial_path "" --rate 1gbit --delay 10ms
	stream many 7301 --count 40 --bytes 1MB --streams 20 --interval 280000 --rcvbuf 64KiB
	wait_output = 20 ctl_json '[.flows[] | select(.bytes_received >= 1000000)] | length' flows --local-port 7301
	# of 20 draws with a probability of 1/2, all are alike once in 500,000 runs
	expect_eq "$(connections '.flags | contains(["held_back"])' | jq -c unique)" "[false,true]" "held back"
	expect_eq "$(connections 'select(.flags | contains(["held_back"])) | [(.flags | contains(["observe"])),
		.receive.request, .receive_buffer_bytes]' | jq -c unique)" '[[true,"passed_on",131072]]' "held back"
	expect_eq "$(connections 'select(.flags | contains(["held_back"]) | not) | [(.flags | contains(["observe"])),
		.receive.request]' | jq -c unique)" '[[false,"listener"]]' "tuned"
	connections '[.local, .remote, (.flags | contains(["held_back"]))] | join(" ")' | jq -r '.[]' >"$TEST_DIR/ends"
	while read -r local remote held; do
		answer=$(ctl_json '.held_back == true' policy test "$local" "$remote")
		expect_eq "$answer" "$held" "policy test $local $remote"
	done <"$TEST_DIR/ends"
	read -r local remote held <<<"$(grep 'true$' "$TEST_DIR/ends")"
	expect_match "$(ctl explain "$local" "$remote")" "held back for the trial of its policy" "explain"
	stop_all many many-receiver
}

# With its window of 64 KiB, what is left of 1 MB after 128 KiB takes 14 round trips, with the kernel's three.
test_trial_that_does_harm_ends() {
	local i
	LINK_SECONDS=1200 trial_path "receive_window_max = 64K\n" --rate 1gbit --delay 100ms
	stream open 7301 --count 40 --bytes 300KB --streams 20 --interval 1000000 \
		--stall 1200 --timeout 1200
	wait_output = 20 ctl_json '[.flows[] | select(.bytes_received >= 300000)] | length' flows --local-port 7301
	expect_eq "$(connections '.flags | contains(["observe"])' | jq -c unique)" "[false,true]" "open ones, before"
	expect_match "$(ctl trial)" "Too few to compare" "before"
	for ((i = 0; ; i++)); do # until so many have shown it
		RECEIVER_PREFIX=in_group TRANSFER_ADDR=${ADDR6[b]} transfer a b --port 7301 --count 60 --bytes 1MB \
			--streams 60 >/dev/null
		! lib_outputs = true ctl_json '.trials[0].harmful' trial || break
		sleep 5 # the daemon looks so often
	done
	note "$(ctl trial)" "transfers: $((i + 1))"
	expect_eq "$(ctl_json '.trials | map([.policy, .holdback, .harmful])' trial)" '[["trial",0.5,true]]' "the trial"
	expect_eq "$(ctl_json '.trials[0].rows[] | select(.measure == "bits_per_second") | [.direction, .better]' trial |
		sort -u)" '["receive","held_back"]' "rates"
	expect_match "$(ctl trial)" "receive rate .*: WORSE" "what is printed"
	in_log "policy trial: tuned connections that receive are slower than those held back, by"
	expect_eq "$(ctl_json '.policies[] | select(.policy == "trial") | [.mode, .harmful]' policy list)" \
		'["observe",true]' "the policy"
	expect_eq "$(unique_observed)" "[false,true]" "open ones"
	ctl policy apply
	expect_eq "$(unique_observed)" "[true]" "open ones, after policy apply"
	kill -HUP "$(pid_of tcptuned)"
	in_log "reloaded"
	expect_eq "$(ctl_json '.policies[] | select(.policy == "trial") | [.mode, .harmful]' policy list)" \
		'["observe",true]' "after a reload"
	tcptuned_kill
	configure "[policy trial]\nlocal_port = 7301\n" # no holdback
	tcptuned_start --config="$TEST_DIR/my.conf" --set=policy.congestion_control=keep
	in_log "policy trial still tunes nothing: its trial has shown harm"
	expect_eq "$(ctl_json '.policies[] | select(.policy == "trial") | [.mode, .harmful]' policy list)" \
		'["observe",true]' "after a restart without holdback"
	expect_eq "$(ctl_json '.trials | map([.policy, .holdback, .harmful])' trial)" '[["trial",0,true]]' "that trial"
	ctl policy enable trial
	expect_eq "$(ctl_json '.policies[] | select(.policy == "trial") | [.mode, .harmful]' policy list)" \
		'["tune",false]' "enabled"
	expect_match "$(ctl trial)" "Nothing is held back" "enabled"
	reload "[policy trial]\nlocal_port = 7301\nholdback = 50%\n" "trial.holdback: none -> 0.5"
	expect_eq "$(ctl_json '.trials[0] | [.tuned, .held_back, .harmful]' trial)" '[0,0,false]' "the next trial"
	stop_all open open-receiver
}

test_trial_has_rates_when_no_connection_is_open() {
	trial_path "" --rate 1gbit --delay 1ms
	RECEIVER_PREFIX=in_group transfer a b --port 7301 --count 120 --bytes 1MB --streams 120 >/dev/null
	wait_output = 0 ctl_json .matched flows
	# of both kinds there are 20, or a draw is wrong; a receiver that is served late may get its record after most data
	wait_output -ge 80 ctl_json '.trials[0] | .tuned + .held_back' trial
	expect_eq "$(ctl_json '.trials[0].rows[] | select(.bytes_min == null) | [.direction, .measure]' trial)" \
		'["receive","bits_per_second"]' "what is compared"
	expect_match "$(ctl trial tiral 2>&1)" "policy: there is no tiral" "a name that no policy has"
	expect_match "$(ctl trial default)" "Nothing is held back" "a policy without a trial"
}

unique_observed() {
	connections '.flags | contains(["observe"])' | jq -c unique
}
