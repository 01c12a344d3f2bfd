# fish completion of pons
function __pons_words
  set -l skip
  for t in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip
      continue
    end
    switch $t
      case --workspace
        set skip yes
      case '--completion'
        echo $t
      case '-*'
      case '*'
        echo $t
    end
  end
end
function __pons_in
  set -l w (__pons_words)
  set -l n (count $argv)
  test (count $w) -ge $n; and test "$w[1..$n]" = "$argv"
end
function __pons_at
  set -l w (__pons_words)
  test "$w" = "$argv"
end
function __pons_values
  set -l where
  set -l t (commandline -opc)
  for i in (seq 2 (count $t))
    switch $t[$i]
      case --workspace
        set where --workspace $t[(math $i + 1)]
      case '--workspace=*'
        set where $t[$i]
    end
  end
  begin
    $t[1] $where help --values $argv
  end 2>/dev/null
end
complete -c pons -l json -d 'one object a line'
complete -c pons -l workspace -r -d 'where state and configuration are'
complete -c pons -l help -d 'what it takes'
complete -c pons -f -n __pons_at -a 'help version'
complete -c pons -f -n '__pons_at help' -l man -d 'the man page'
complete -c pons -f -n '__pons_at help' -l completion -d 'what a shell completes'
