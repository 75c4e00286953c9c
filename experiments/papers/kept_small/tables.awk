# How `make` reads a study's tables. A program is given to awk behind this text, with -F, and says in a
# BEGIN rule which columns it needs, as in needed["runs.csv"] = "run_id seed". An END rule has to return
# at once where `failed` is set.

function fail(text) {
  print "error: " text > "/dev/stderr"
  failed = 1
  exit 2
}

# The text of a column in this row, empty where the table has no such column.
function value(column) { return column in place ? $place[column] : "" }

# Says whether a column has a finite number in this row, one that sums can take.
function has_number(column,    text) {
  text = value(column)
  if (text == "" || text ~ /^[-+]?(nan|inf)$/) { return 0 }
  if (text !~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/) {
    fail(table ", line " FNR ": " column " is \"" text "\", which is no number")
  }
  return text + 0 < 1e150 && text + 0 > -1e150
}

# The state of this row's run, where it is no finished one; what such a run had last is no end.
function unfinished() {
  if (!("status" in place) || $place["status"] == "finished") { return "" }
  return $place["status"] == "" ? "without status" : $place["status"]
}

BEGIN {
  OFMT = CONVFMT = "%.17g"
  for (argument = 1; argument < ARGC; ++argument) {
    folder = table = ARGV[argument]
    sub(/\/?[^\/]*$/, "", folder)
    sub(/^\.\//, "", folder)
    sub(/.*\//, "", table)
    status = (getline first_line < ARGV[argument])
    close(ARGV[argument])
    if (status < 0) { fail(folder " has no " table "; run the study first, with --out " folder) }
    if (status == 0) { fail(folder "/" table " is empty") }
  }
}

{ sub(/\r$/, "") }

index($0, "\"") {  # in a quoted value a comma ends no field
  pieces = split($0, piece, "\"")
  if (pieces % 2 == 0) { fail(table ", line " FNR ": a quote is not closed") }
  unquoted = ""
  for (i = 1; i <= pieces; ++i) {
    if (i % 2 == 0) { gsub(/,/, ";", piece[i]) }
    unquoted = unquoted piece[i]
  }
  $0 = unquoted
}

FNR == 1 {
  table = FILENAME
  sub(/.*\//, "", table)
  delete place
  fields = NF
  for (i = 1; i <= fields; ++i) {
    if ($i in place) { fail(table " has two columns " $i) }
    place[$i] = i
    name[i] = $i
  }
  wanted = split(needed[table], column_needed, " ")
  for (i = 1; i <= wanted; ++i) {
    if (!(column_needed[i] in place)) { fail(table " has no column " column_needed[i]) }
  }
}

NF == 0 { next }

NF != fields {
  fail(table ", line " FNR ": there are " NF " fields instead of " fields)
}
