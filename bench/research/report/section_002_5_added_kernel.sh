# SPDX-License-Identifier: GPL-2.0-only
# Paper 002: clients added to Reno's, on the kernel itself, where bench/run measured any.

if [ -n "$(rows_of added '.[] | select(.invalid | not) | 1')" ]; then
cat <<TEXT

## Paper 002: clients added to Reno's on the kernel, Figures 5 to 12

The clients and the gateways of the section in ns-3, on connections of this kernel over the emulated link; Reno's begin first.
Throughput and loss of the added ones are counted at the gateway, the c.o.v. of all as they leave the host. The paper prints no values.

| Reno's + added, gateway | Mbit/s: reno | vegas | bitcp | vegas / reno | bitcp / reno | lost, %: reno | vegas | bitcp | c.o.v.: reno | vegas | bitcp | Mbit/s of the background: beside reno | vegas | bitcp |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
$(rows_of added 'def cell(f; $scale): map(f * $scale) | if . == [] then "" else (add / length * 100 | round / 100 | tostring) end;
	["tt_reno", "tt_vegas", "bitcp"] as $order
	| map(select(.invalid | not)) | group_by(.x)[] | . as $all
	| [$order[] as $c | $all | map(select(.column == $c))] as $of
	| def ratio($i): if ($of[0] | length) > 0 and ($of[$i] | length) > 0
		then (($of[$i] | map(.goodput_bps) | add / length) / ($of[0] | map(.goodput_bps) | add / length) * 100 | round / 100 | tostring) else "" end;
	"| \($all[0].x) | " + ([($of[] | cell(.goodput_bps; 1e-6)), ratio(1), ratio(2), ($of[] | cell(.loss; 100)),
		($of[] | map(.cov) | if . == [] then "" else (add / length * 1000 | round / 1000 | tostring) end),
		($of[] | cell(.background_mbps; 1))] | join(" | ")) + " |"' | sort -V)

$(age_of_tuning= row_conditions added) $(kernel_clients_seconds added)
TEXT
fi
