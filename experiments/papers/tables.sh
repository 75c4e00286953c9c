# What the programs of this folder share, to be sourced by them: `library`, which is tables.awk, and the
# C locale, in which a decimal point is one.
export LC_ALL=C
library=$(<"$here/tables.awk")

# need_whole TABLE...: ends the program where the last line of a table has no end, as it may lack digits.
need_whole() {
  local table
  for table; do
    if [[ -f $table && -n $(tail -c 1 "$table" | tr '\0' x) ]]; then
      echo "error: ${table#./} is cut short: its last line does not end" >&2
      exit 2
    fi
  done
}
