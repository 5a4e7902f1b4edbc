# SPDX-License-Identifier: GPL-2.0-only
# What the documentation names exists: metrics, keys, options, make targets, files, sections and figures. Every
# metric and member of JSON is documented. (The manual pages take keys and options from the sources' tables.)

cd "$TEST_TOP"
pages=(README.md CONTRIBUTING.md ARCHITECTURE.md SECURITY.md NEWS docs/*.md bench/README.md bench/r*/README.md)
metric_name='(tcptuned|process)_[a-z_]+'

# unknown FILE: the lines of standard input that are not among those of FILE
unknown() {
	sort -u | grep -vxF -f "$1" || :
}

test_docs_list_each_metric() {
	grep -rhoE --include='*.c' "\"$metric_name\"" daemon/metrics | tr -d '"' | sort -u >"$TEST_DIR/there"
	grep -hoE "\`$metric_name\`" docs/metrics.md | tr -d '`' | sort -u >"$TEST_DIR/listed"
	expect_eq "$(comm -3 "$TEST_DIR/there" "$TEST_DIR/listed")" "" \
		"metrics in the sources only, or (indented) in docs/metrics.md only"
	# Ansible's variables are no metrics.
	expect_eq "$(sed 's/instance:tcptuned_limited//; s/_seconds_\(bucket\|sum\|count\)\>/_seconds/g; s/tcptuned_\(config\|deb\|program\)\>//g' README.md docs/*.md $(find contrib/ -type f) |
		grep -oE "$metric_name" | unknown "$TEST_DIR/listed")" "" \
		"metrics that docs/metrics.md has not"
}

# Members of JSON, and events: what has quotes in these files. The names of some are made of two halves there.
test_docs_list_each_member_of_json() {
	tr -d '\\' <"$TEST_BUILD/man/tcptunectl.8" | grep -oE '[a-z_]+' | sort -u >"$TEST_DIR/listed"
	expect_eq "$(sed 's/\\//g' daemon/rpc/{advice,events,flows,paths,policies,status,trial}.c \
		daemon/change.c ctl/streams.c |
		grep -oE '"[._a-z]*[a-z]"' | grep -vE '\.h"|"(enabled|interrupted|opened|unknown|want|we)"' | tr -d '"' | sed 's/^_/receive_/' | tr -s . '\n' |
		unknown "$TEST_DIR/listed")" "" "members that tcptunectl(8) has not"
	grep -rhoE '[a-z0-9]+(_[a-z0-9]+)+' --include='*.[ch]' bpf ctl daemon include >"$TEST_DIR/words"
	printf '%s\n' tcptuned_streams {receive,send}_window_{budget,capped,failed,grown,shrunk,test} >>"$TEST_DIR/words"
	expect_eq "$(tr -d '\\' <"$TEST_BUILD/man/tcptunectl.8" | sed 's/(dq//g' |
		grep -oE '[a-z0-9]+(_[a-z0-9]+)+' | unknown "$TEST_DIR/words")" "" "words that no source has"
}

# A key is named at the beginning of a line of an example, or in back quotes with its value.
test_docs_name_keys_that_exist() {
	"$TEST_BUILD/tcptuned" --help-config | sed -n 's/^#\([a-z_]*\) = .*/\1/p' >"$TEST_DIR/keys"
	expect_eq "$(grep -hoE '(^    |`)[a-z_]+ = [^`]' README.md docs/*.md | sed 's/^[ `]*//; s/ = .*//' |
		unknown "$TEST_DIR/keys")" "" "keys that do not exist"
}

test_docs_name_options_and_targets_that_exist() {
	local command
	{
		"$TEST_BUILD/tcptuned" --help
		"$TEST_BUILD/tcptune-run" --help
		"$TEST_BUILD/tcptunectl" --help
		for command in status top flows explain policy paths advise events streams doctor detach; do
			"$TEST_BUILD/tcptunectl" $command --help
		done
	} | grep -oE -- '--[a-z-]+' >"$TEST_DIR/options"
	expect_eq "$(grep -hoE '(tcptuned|tcptunectl|tcptune-run)( [a-z]+)? --[a-z-]+' "${pages[@]}" | sed 's/.* //' |
		unknown "$TEST_DIR/options")" "" "options that do not exist"
	sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile */Makefile >"$TEST_DIR/targets"
	expect_eq "$(grep -hoE '(^    |`|&& )make [a-z-]+' "${pages[@]}" | sed 's/.* //' |
		unknown "$TEST_DIR/targets")" "" "make targets that do not exist"
}

# Members of the report of tcptune-run.
test_docs_list_each_member_of_the_report() {
	tr -d '\\' <"$TEST_BUILD/man/tcptune-run.1" | grep -oE '[a-z_]+' | sort -u >"$TEST_DIR/listed"
	expect_eq "$(tr -d '\\' <run/report.c | grep -oE '"[a-z_]+"[:}]' | tr -d '":}' | unknown "$TEST_DIR/listed")" "" \
		"members that tcptune-run(1) has not"
}

# Sources are named by their path, or by the end of it.
test_docs_name_files_that_exist() {
	find "$(dirname "$(readlink -f Makefile)")" -name '*.[ch]' | sort >"$TEST_DIR/files" # a lane's top has not all
	expect_eq "$(grep -hoE '[a-z_][a-z0-9_/.-]*\.[ch]\>' "${pages[@]}" | sort -u | while read -r name; do
		grep -q "/${name//./\\.}\$" "$TEST_DIR/files" || echo "$name"
	done)" "" "files that do not exist"
	[ "$(wc -l <docs/life-of-a-connection.md)" -le 60 ] || fail "the life of a connection is longer than a page"
}

# Links to files, and to their sections as GitHub names them.
test_docs_link_to_what_exists() {
	local page link file broken=
	for page in "${pages[@]}"; do
		for link in $(grep -oE '\]\([^)]+\)' "$page" | tr -d '])(' || :); do
			file=$(dirname "$page")/${link%%#*}
			[ -e "$file" ] || broken+=" $page:$link"
			[[ $link != *#* ]] || sed -n 's/^#\+ //p' "$file" | tr 'A-Z ' 'a-z-' |
				tr -cd 'a-z0-9\n-' | grep -xF "${link#*#}" >/dev/null || broken+=" $page:$link"
		done
	done
	expect_eq "$broken" "" "links that lead nowhere"
}

# Git says how old measurements are.
need_history() {
	[ "$(git -C bench rev-parse --is-shallow-repository 2>/dev/null)" = false ] ||
		skip "how old measurements are is seen in a full clone only"
}

test_docs_have_the_results_that_were_kept() {
	need_history
	bench/table --csv >"$TEST_DIR/results"
	expect_eq "$(diff "$TEST_DIR/results" bench/results/results.csv)" "" "bench/table --keep would change"
	expect_eq "$(bench/table --check README.md docs/performance.md)" "" "figures that were not measured"
}

# What one run of `peace` leaves: the congestion control that the first connection ended with, the rate of the second.
peace() { # CONTROL MBPS COMMIT
	jq -nc --arg control "$1" --argjson mbps "$2" --arg commit "$3" '{bench: "peace", x: "link", column: "auto, cubic",
		kernel: "6.18", date: "2026-11-26", commit: $commit,
		flows: [{congestion: $control, mbps: 1}, {congestion: "cubic", mbps: $mbps}]}'
}

# bitcp: names it
test_docs_trace_figures_to_runs_of_one_kind() {
	local now first runs=$TEST_DIR/runs page=$TEST_DIR/page
	need_history
	now=$(git -C bench rev-parse --short HEAD) first=$(git -C bench rev-list --max-parents=0 HEAD | cut -c 1-7)
	{
		peace bitcp 219 "$now"
		peace cubic 662 "$now"
		peace cubic 701 "$now"
	} >"$runs"
	bench/table "$runs" >"$TEST_DIR/table"
	grep -qF 'mixed: 219 with bitcp + cubic; 682 (662-701) with cubic + cubic' "$TEST_DIR/table" ||
		fail "unlike runs were averaged: $(<"$TEST_DIR/table")"
	printf '%s\n' '- Next to `bitcp` cubic had 662 Mbit/s. <!-- bench: peace -->' '- It had 219 Mbit/s.' '' \
		'| scene | result | runs | bench |' '|---|---|---|---|' '| all | 662 (219–701) | 3 | `peace` |' \
		'| next to `bitcp` | 682 (662–701) | 2 | `peace` |' '| next to cubic | 682 (662–701) | 2 | `peace` |' >"$page"
	expect_eq "$(bench/table "$runs" --check "$page" | sed "s|^$page:||")" "$(printf '%s\n' "1: 662: not measured" \
		"2: Mbit/s, and no bench is named" "6: 662 (219–701): not measured" "6: 3 runs: not measured" \
		"7: 682 (662–701): not measured" "7: 2 runs: not measured")" "what is wrong with the page"
	sed -i 's/662 Mbit/682 Mbit/; /219/d; /next to .bitcp/d' "$page"
	expect_eq "$(bench/table "$runs" --check "$page")" "" "what is wrong with figures of one kind"
	sed -i "s/$now/$first/" "$runs"
	expect_eq "$(bench/table "$runs" --check "$page" | grep -c 'older than the code, and not marked')" 2 "older figures"
	bench/table "$runs" --mark "$page"
	expect_eq "$(bench/table "$runs" --check "$page"; grep -c older "$page")" 2 "marked figures"
}

# Results are kept only with commits that stay, and compared only where git knows them all.
test_docs_refuse_measurements_without_a_history() {
	local top clone=$TEST_DIR/clone
	need_history
	top=$(git -C bench rev-parse --show-toplevel)
	git clone -q "$top" "$clone"
	cp bench/table bench/*.py "$clone/bench/"
	peace cubic 662 1234567 >"$TEST_DIR/runs"
	expect_eq "$("$clone/bench/table" --keep "$TEST_DIR/runs" 2>&1)" "table: not kept: rows of commits that are not in$(
		) the history of HEAD: 1234567; measure again, on a commit that stays" "a commit that does not exist"
	expect_eq "$("$clone/bench/table" "$TEST_DIR/runs" --check "$clone/NEWS")" "rows of commits that are not in$(
		) the history of HEAD: 1234567; measure again, on a commit that stays" "the same in a check"
	expect_eq "$(git -C "$clone" status --short bench/results)" "" "results that were kept"
	git clone -q --depth 1 "file://$top" "$clone-shallow"
	cp bench/table bench/*.py "$clone-shallow/bench/"
	expect_eq "$("$clone-shallow/bench/table" --check README.md 2>&1)" "table: this clone is shallow and does not show how$(
		) old measurements are; run git fetch --unshallow" "a shallow clone"
}
