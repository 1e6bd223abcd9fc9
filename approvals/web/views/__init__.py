"""Views: parse, call one service, render. Errors become pages and fragments here and nowhere else."""
