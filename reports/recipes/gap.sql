-- Prints median and quartiles of the final f - f* over seeds, by method; a run that diverged is a miss, infinite.
with ended as (
  select *, case status when 'diverged' then 'inf'::double else final_loss_gap end as gap
  from read_csv('runs.csv') where status in ('finished', 'diverged'))
select columns('^(study|p_.*)$'), quantile_cont(gap, [0.25, 0.5, 0.75]) as quartiles
from ended where gap is not null group by all order by all;
