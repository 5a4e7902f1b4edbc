# SPDX-License-Identifier: GPL-2.0-only
# Completion of tcptunectl(8) for fish, by that for bash, which is found from where this one is installed.
set -l bash "bash -c '. \"\$0\" && _tcptunectl_offer \"\$@\"' "(status dirname)/../../bash-completion/completions/tcptunectl
complete -c tcptunectl -f -a "($bash (commandline -opc)[2..-1] (commandline -ct))"
