# by_epoch and keep_seeds share this: reading a study's tables. A
# program is given to awk behind this text, with -F, and says in a BEGIN rule which columns it needs,
# as in needed["runs.csv"] = "run_id seed". An END rule has to return at once where `failed` is set.

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

# Ends the program unless the rows of one series, as a run has one in iterations.csv, come in the
# order of a column.
function need_order(series, column) {
  if (!has_number(column)) { fail(table ", line " FNR ": " column " is \"" value(column) "\", which is no number") }
  if (series in latest_of && $place[column] + 0 <= latest_of[series] + 0) {
    fail(table ", line " FNR ": " column " " $place[column] " of " value("run_id") value("method") " comes after " \
         latest_of[series])
  }
  latest_of[series] = $place[column]
}

# The varied keys of this row of runs.csv with their values, but for the column `left_out`, in the
# order of their names: that of the columns depends on which runs a table has.
function method(left_out,    i, k, text) {
  for (k = 1; k <= keys; ++k) {
    i = key_place[k]
    if (name[i] != left_out && $i != "") { text = text (text == "" ? "" : " ") substr(name[i], 3) "=" $i }
  }
  return text == "" ? "all" : text
}

# Takes note of a column that is a varied key.
function add_key(column,    k) {
  for (k = ++keys; k > 1 && name[key_place[k - 1]] > name[column]; --k) { key_place[k] = key_place[k - 1] }
  key_place[k] = column
}

# The state of this row's run, where it is no finished one; what such a run had last is no end.
function unfinished() {
  if (!("status" in place) || $place["status"] == "finished") { return "" }
  return $place["status"] == "" ? "without status" : $place["status"]
}

# Takes note of this row's run, of which there may be one for a method and seed.
function add_run(label,    same) {
  same = label SUBSEP value("seed")
  if (same in run_of) {
    fail("runs.csv has two runs of seed " value("seed") " of " label ": " run_of[same] " and " value("run_id"))
  }
  if (value("run_id") in has_run) { fail("runs.csv has the run " value("run_id") " twice") }
  has_run[value("run_id")] = 1
  run_of[same] = value("run_id")
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

{
  sub(/\r$/, "")
  as_read = $0
}

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
  keys = 0
  for (i = 1; i <= fields; ++i) {
    if ($i in place) { fail(table " has two columns " $i) }
    place[$i] = i
    name[i] = $i
    if ($i ~ /^p_/) { add_key(i) }
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
