"""What every model costs on this machine: parameters, multiplications, time and memory, measured in one run."""
