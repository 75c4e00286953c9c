-- Prints median and quartiles of f - f* over seeds, at the last iteration with a loss, by aggregator.
with last as (
  select *, row_number() over (partition by run_id order by iteration desc) as place
  from read_csv('joined.csv') where loss_gap is not null)
select p_aggregator_kind, quantile_cont(loss_gap, [0.25, 0.5, 0.75]) as quartiles
from last where place = 1 group by all order by all;
