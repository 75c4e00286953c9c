# Draws f - f* of every run against the iteration, to gap.svg.
set datafile separator comma
set terminal svg size 480,320
set output "gap.svg"
set logscale y
set format y "10^{%T}"
set xlabel "iteration"
set ylabel "f - f*"
unset key
# A curve ends where the run changes: a point at which it does is undefined, which breaks the line.
run = ""
same(name) = (before = run, run = name, before eq name)
plot table using (column("iteration")):(same(strcol("run_id")) && strcol("loss_gap") ne "" ? column("loss_gap") : NaN) with lines
