# SPDX-License-Identifier: GPL-2.0-only
# Completion of tcptunectl(8) for bash: words come from its own --help.

_tcptunectl_options() { # COMMAND...
	tcptunectl "$@" --help 2>/dev/null | grep -oE -- '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

_tcptunectl_columns() {
	tcptunectl flows --help 2>/dev/null | sed -n 's/^  [* ] \([a-z-]*\) .*/\1/p'
}

_tcptunectl_policies() {
	tcptunectl policy list 2>/dev/null | sed -n 's/^\([^ :]*\):.*/\1/p'
}

_tcptunectl() {
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i
	local commands="status flows explain policy paths events detach"

	for ((i = 1; i < COMP_CWORD; i++)); do
		case " $commands " in
		*" ${COMP_WORDS[i]} "*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	[ "$cur" != = ] || cur=
	[ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
	case $command:$before:$cur in
	flows:--sort:* | flows:-S:* | flows:--columns:* | flows:-o:*)
		COMPREPLY=($(compgen -W "$(_tcptunectl_columns)" -- "$cur"))
		;;
	*:*:-*)
		COMPREPLY=($(compgen -W "$(_tcptunectl_options $command)" -- "$cur"))
		;;
	::* | :*:*)
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		;;
	paths:--sort:* | paths:-S:*)
		COMPREPLY=($(compgen -W "use prefix connections receive send rtt max-window loss" \
			-- "$cur"))
		;;
	policy:policy:* | policy:--json:* | policy:-j:*)
		COMPREPLY=($(compgen -W "list test enable disable apply" -- "$cur"))
		;;
	policy:enable:* | policy:disable:*)
		COMPREPLY=($(compgen -W "$(_tcptunectl_policies)" -- "$cur"))
		;;
	paths:paths:* | paths:--json:* | paths:-j:* | paths:--reverse:* | paths:-r:*)
		COMPREPLY=($(compgen -W "forget" -- "$cur"))
		;;
	paths:forget:*)
		COMPREPLY=($(compgen -W "all" -- "$cur"))
		;;
	esac
}

complete -F _tcptunectl tcptunectl
