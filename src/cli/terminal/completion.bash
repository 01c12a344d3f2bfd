# bash completion of pons
_pons() {
  local now=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local known='' kind='' line='' most=1 i v
  local -a w=() where=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --json) ;;
      --workspace)
        [ "${COMP_WORDS[i + 1]}" = = ] && ((i++))
        ((i++)); ((i < COMP_CWORD)) && where=(--workspace "${COMP_WORDS[i]}") ;;
      *) w+=("${COMP_WORDS[i]}") ;;
    esac
  done
  line=${w[*]}
  [ "$prev" = = ] && prev=${COMP_WORDS[COMP_CWORD - 2]}
  case "${w[0]} ${w[1]}" in
    # what pons has
  COMPREPLY=()
  case $now in
    -*) COMPREPLY=($(compgen -W "$known" -- "$now")) ;;
    *)
      [ ${#w[@]} -le $most ] && [ "$prev" != --workspace ] &&
        COMPREPLY=($(compgen -W "$known" -- "$now" | grep -v '^-'))
      [ -n "$kind" ] && while IFS= read -r v; do
        case $v in "$now"*) COMPREPLY+=("$(printf %q "$v")") ;; esac
      done < <("$1" "${where[@]}" help --values "$kind" 2>/dev/null) ;;
  esac
  return 0
}
complete -o default -F _pons pons
