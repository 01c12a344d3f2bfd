#compdef pons
# zsh completion of pons
_pons() {
  local known='' kind='' line='' prev=$words[CURRENT-1] most=1 i
  local -a w some where
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      --json) ;;
      --workspace=*) where=(${(Q)words[i]}) ;;
      --workspace) ((i++)); ((i < CURRENT)) && where=(--workspace ${(Q)words[i]}) ;;
      *) w+=($words[i]) ;;
    esac
  done
  line="$w"
  case "$w[1] $w[2]" in
    # what pons has
  if [[ $PREFIX == -* ]]; then some=(${(M)${(z)known}:#-*})
  elif [[ $prev != --workspace ]]; then
    (( $#w <= most )) && some=(${${(z)known}:#-*})
    [[ -n $kind ]] && some+=(${(f)"$(${(Q)words[1]} $where help --values $kind 2>/dev/null)"})
  fi
  (( $#some )) && compadd -a some || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _pons "$@"; else compdef _pons pons; fi
