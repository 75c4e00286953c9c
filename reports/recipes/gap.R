# Prints median and quartiles of the final f - f* over seeds, by method; a run that diverged is a miss, infinite.
runs <- read.csv(commandArgs(trailingOnly = TRUE)[1])
method <- grep("^p_", names(runs), value = TRUE)
if (length(method) == 0) method <- "study"
ended <- runs[runs$status %in% c("finished", "diverged"), ]
ended$final_loss_gap[ended$status == "diverged"] <- Inf
ended <- ended[!is.na(ended$final_loss_gap), ]
by <- lapply(ended[method], function(key) ifelse(is.na(key), "", as.character(key)))
quartiles <- aggregate(ended["final_loss_gap"], by, quantile, probs = c(0.25, 0.5, 0.75))
write.csv(do.call(data.frame, quartiles), row.names = FALSE)
