#compdef tcptunectl
# SPDX-License-Identifier: GPL-2.0-only
# Completion of tcptunectl(8) for zsh, by that for bash, which is found from where this one is installed.
local bash=${functions_source[_tcptunectl]:A:h}/../../bash-completion/completions/tcptunectl
local -a offers=(${(f)"$(bash -c '. "$0" && _tcptunectl_offer "$@"' $bash "${(@Q)words[2,CURRENT]}")"})
local -a more=(${(M)offers:#*[/,]($'\t'*|)}) # behind which more may follow
offers=(${${offers//:/\\:}/$'\t'/:})
_describe tcptunectl offers ${more:+-S} ${more:+''}
