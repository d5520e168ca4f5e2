"""From a job to its row: planning, worker processes, training, scoring."""
