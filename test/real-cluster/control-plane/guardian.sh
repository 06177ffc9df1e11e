# Ends what a test run started when that run is gone, however it went: its end of the pipe closes then.
# Lines: "add <pid>" of a process group, "gone <pid>", "folder <path>".
groups=' '
folder=
while read -r what value; do
  case $what in
    add) groups="$groups$value " ;;
    gone) groups=$(printf '%s' "$groups" | sed "s/ $value / /") ;;
    folder) folder=$value ;;
  esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
if [ -n "$folder" ]; then
  # Until the last of them has stopped writing.
  for _ in 1 2 3 4 5; do rm -rf "$folder" && break; sleep 0.2; done
fi
