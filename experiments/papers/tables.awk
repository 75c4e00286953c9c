# What the awk programs of this folder share: reading a study's tables, and Student's intervals. A
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

# The varied keys of this row of runs.csv with their values, but for the column `left_out`.
function method(left_out,    i, text) {
  for (i = 1; i <= fields; ++i) {
    if (name[i] ~ /^p_/ && name[i] != left_out && $i != "") {
      text = text (text == "" ? "" : " ") substr(name[i], 3) "=" $i
    }
  }
  return text == "" ? "all" : text
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

# The 97.5 % quantile of Student's t, from 30 degrees of freedom on by its expansion around the
# normal one (Abramowitz and Stegun, 26.7.5).
function student(degrees,    z) {
  if (degrees <= 29) { return quantile[degrees] }
  z = 1.95996398
  return z + (z ^ 3 + z) / (4 * degrees) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * degrees ^ 2) + \
         (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * degrees ^ 3)
}

# Half the width of the 95 % interval of a mean of n values whose squared deviations add up to this.
function half_width(squares, n) { return student(n - 1) * sqrt(squares / (n - 1) / n) }

function plural(n, noun) { return n " " noun (n == 1 ? "" : "s") }

BEGIN {
  OFMT = CONVFMT = "%.17g"
  split("12.706205 4.3026527 3.1824463 2.7764451 2.5705818 2.4469119 2.3646243 2.3060041 2.2621572 " \
        "2.2281389 2.2009852 2.1788128 2.1603687 2.1447867 2.1314495 2.1199053 2.1098156 2.100922 " \
        "2.0930241 2.0859634 2.0796138 2.0738731 2.0686576 2.0638986 2.0595386 2.0555294 2.0518305 " \
        "2.0484071 2.0452296", quantile, " ")
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
