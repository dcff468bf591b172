"""What worker processes load. Each marks the jobs that it starts, in the site of its environment."""
