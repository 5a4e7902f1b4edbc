# SPDX-License-Identifier: GPL-2.0-only
# Completion of tcptunectl(8) for bash, with words of its --help, of the daemon and of the kernel.

_tcptunectl_options() { # COMMAND...
	tcptunectl "$@" --help 2>/dev/null | grep -oE -- '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

_tcptunectl_columns() {
	tcptunectl flows --help 2>/dev/null | sed -n 's/^  [* ] \([a-z-]*\) .*/\1/p'
}

_tcptunectl_policies() {
	tcptunectl policy list 2>/dev/null | sed -n 's/^\([^ :]*\):.*/\1/p'
}

_tcptunectl_congestion_controls() {
	cat /proc/sys/net/ipv4/tcp_available_congestion_control 2>/dev/null
}

# Paths of control groups that begin with $1, below the root of the cgroup2 tree.
_tcptunectl_cgroups() {
	local root
	root=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/self/mounts 2>/dev/null)
	root=${root%%$'\n'*}
	[ -z "$root" ] || compgen -d -- "$root${1:-/}" | sed "s|^$root||"
}

# For "rtt,cwnd,r": the columns that begin with "r", each after "rtt,cwnd,".
_tcptunectl_column_list() { # TYPED
	local before=
	[ "${1%,*}" = "$1" ] || before=${1%,*},
	compgen -P "$before" -W "$(_tcptunectl_columns)" -- "${1##*,}"
}

# The values of option $2 of command $1 that begin with $3; fails if it has none, or any.
_tcptunectl_values() {
	case $1:$2 in
	:--socket | :-s) compgen -f -- "$3" ;;
	flows:--columns | flows:-o) _tcptunectl_column_list "$3" ;;
	flows:--sort | flows:-S) compgen -W "$(_tcptunectl_columns)" -- "$3" ;;
	flows:--policy) compgen -W "$(_tcptunectl_policies)" -- "$3" ;;
	flows:--cc | streams:--cc | streams:-C) compgen -W "$(_tcptunectl_congestion_controls)" -- "$3" ;;
	policy:--cgroup | policy:-g | flows:--cgroup | flows:-g | top:--cgroup | top:-g) _tcptunectl_cgroups "$3" ;;
	paths:--sort | paths:-S)
		compgen -W "use prefix connections receive send rtt max-window loss" -- "$3"
		;;
	streams:--probe | streams:-P) compgen -W "iperf3 http none" -- "$3" ;;
	streams:--[mw]* | streams:-[mwntb]) ;;
	*:--probe-*) ;;
	*:--limit | *:-n | top:--delay | top:-d | *:--netns | *:--*address | *:-a | *:--*port | *:-p) ;;
	*) return 1 ;;
	esac
}

# The arguments of command $1 that may follow the word $2.
_tcptunectl_arguments() {
	case $1:$2 in
	:*) echo status top flows explain policy trial paths advise events streams doctor detach ;;
	policy:policy | policy:--json | policy:-j) echo list test enable disable apply ;;
	policy:enable | policy:disable) _tcptunectl_policies ;;
	paths:paths) echo forget ;; # not after an option
	paths:forget) echo all ;;
	esac
}

# The command before the word that is being typed. An option's argument is none.
_tcptunectl_command() {
	local i word
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case ${COMP_WORDS[i - 1]}:$word in
		--socket:* | -s:* | =:*) ;;
		*:status | *:top | *:flows | *:explain | *:policy | *:trial | *:paths | *:advise | *:events | *:streams | *:tame | *:doctor | *:detach)
			echo "${word/tame/streams}"
			return
			;;
		esac
	done
}

_tcptunectl() {
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command values
	command=$(_tcptunectl_command)
	# bash splits --cc=bbr at the =
	[ "$cur" != = ] || cur=
	[ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
	if values=$(_tcptunectl_values "$command" "$before" "$cur"); then
		:
	elif [[ $cur == -* ]]; then
		values=$(compgen -W "$(_tcptunectl_options $command)" -- "$cur")
	else
		values=$(compgen -W "$(_tcptunectl_arguments "$command" "$before")" -- "$cur")
	fi
	case $before in # more may follow; compopt fails outside of a completion, as in tests
	--socket | -s) compopt -o filenames 2>/dev/null ;;
	--columns | -o | --cgroup | -g) compopt -o nospace 2>/dev/null ;;
	esac
	mapfile -t COMPREPLY <<<"$values"
	[ -n "$values" ] || COMPREPLY=()
}

complete -o nosort -F _tcptunectl tcptunectl
