"""What is wrong with keys that only the keys show, and the commands that mend it: pure, a snapshot in, changes out."""
