"""How a site tells agents that it can be asked: headers, tags, the notice. Imports nothing else."""
