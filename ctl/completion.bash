# SPDX-License-Identifier: GPL-2.0-only
# Completion of tcptunectl(8) for bash, with words of its --help, of the daemon and of the kernel. completion.zsh and
# completion.fish ask this one.

# Sets option and argument to what $help has for "--sort" or "-S": "--sort" and "COLUMN", or nothing.
_tcptunectl_find_option() { # WORD
	read -r option argument < <(awk -v word="$1" '
		/^  (-., |    )--/ && ($1 == word "," || $NF == word || index($NF, word "=") == 1) { sub("=", " ", $NF); print $NF }' <<<"$help")
}

# Prints the options, commands and columns of $help, each with its meaning after a tab.
_tcptunectl_words() {
	sed -nE '/^  (-., |    )--|^  [a-z]/ { N; s/^ +(-., )?([a-z-]+)[^\n]*\n +/\2\t/p }; s/^  [* ] ([a-z-]+) +/\1\t/p' <<<"$help"
}

# Prints what the usage in $help has next to $arguments, such as "enable", or NAME.
_tcptunectl_next() {
	local alternative
	while read -ra alternative; do
		[ "${alternative[*]:0:${#arguments[@]}}" != "${arguments[*]}" ] || echo "${alternative[${#arguments[@]}]-}"
	done < <(sed -n 's/^Usage: [^.]*[.]* //p' <<<"$help" | tr -d '[]' | tr '|' '\n') | sort -u
}

# Prints paths that start with ROOT$typed, without ROOT; directories, behind which more may follow, with a slash.
_tcptunectl_files() { # d (directories) or f, ROOT
	compgen -"$1" -- "${2-}$typed" | while IFS= read -r file; do
		[ ! -d "$file" ] || file+=/
		printf '%s\n' "${file#"${2-}"}"
	done
}

# Prints values of an option, or those of an argument, that are called so.
_tcptunectl_values() { # OPTION:NAME, or :NAME
	local root
	case $1 in
	--socket:*) _tcptunectl_files f ;;
	--cgroup:*)
		root=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/self/mounts | head -n 1)
		[ -z "$root" ] || typed=${typed:-/} _tcptunectl_files d "$root"
		;;
	--cc:*) tr ' ' '\n' </proc/sys/net/ipv4/tcp_available_congestion_control ;;
	--probe:*) printf '%s\n' iperf3 http none ;;
	--sort:ORDER) printf '%s\n' use prefix connections receive send rtt max-window loss ;;
	*:COLUMN,*) _tcptunectl_words | sed '/^-/d; s/\t/,&/' ;; # another one may follow
	*:COLUMN | :COMMAND) _tcptunectl_words | grep -v '^-' ;;
	*:NAME) tcptunectl "${socket[@]}" policy list | sed -nE 's/^([^ :]+): /\1\t/p' ;;
	:*[[:lower:]]*) echo "${1#:}" ;;
	esac
}

# Prints what the last word may become, and after a tab what it means.
_tcptunectl_offer() { # WORD...
	local word typed=${*: -1} before= command= option= argument= arguments=() socket=() help
	help=$(tcptunectl --help)
	for word in "${@:1:$#-1}"; do
		if [ "$word" = = ]; then
			: # bash splits --cc=bbr there
		elif [ -n "$argument" ]; then
			[ "$option" != --socket ] || socket=(--socket "$word")
			argument=
		elif [[ $word == -* ]]; then
			_tcptunectl_find_option "$word"
		elif [ -z "$command" ]; then
			command=$word help=$(tcptunectl "$command" --help)
		else
			arguments+=("$word")
		fi
	done
	if [ -z "$argument" ] && [[ $typed == --*=* ]]; then
		before=${typed%%=*}=
		_tcptunectl_find_option "${before%=}"
		typed=${typed#*=}
	fi
	[ "$typed" != = ] || typed=
	if [[ $argument == *,* && $typed == *,* ]]; then
		before+=${typed%,*}, typed=${typed##*,}
	fi
	if [ -n "$argument" ]; then
		_tcptunectl_values "$option:$argument"
	elif [[ $typed == -* ]]; then
		_tcptunectl_words
	else
		for word in $(_tcptunectl_next); do
			_tcptunectl_values ":$word"
		done
	fi | while IFS= read -r word; do
		[[ $word != "$typed"* ]] || printf '%s%s\n' "$before" "$word"
	done
} 2>/dev/null

_tcptunectl() {
	mapfile -t COMPREPLY < <(_tcptunectl_offer "${COMP_WORDS[@]:1:COMP_CWORD}" | sed 's/\t.*//; s/[\\ ]/\\&/g')
	[[ ${COMPREPLY-} != *[/,] ]] || compopt -o nospace
}

complete -o nosort -F _tcptunectl tcptunectl
