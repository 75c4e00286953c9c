# Prints median and quartiles of f - f* over seeds, at the last iteration with a loss, by method.
table <- read.csv(commandArgs(trailingOnly = TRUE)[1])
method <- grep("^p_", names(table), value = TRUE)
seen <- table[!is.na(table$loss_gap), ]
last <- do.call(rbind, lapply(split(seen, seen$run_id), function(run) run[which.max(run$iteration), ]))
by <- lapply(last[method], function(key) ifelse(is.na(key), "", as.character(key)))
quartiles <- aggregate(last["loss_gap"], by, quantile, probs = c(0.25, 0.5, 0.75))
write.csv(do.call(data.frame, quartiles), row.names = FALSE)
