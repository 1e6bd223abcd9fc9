"""The HTTP API under /v1: parse, call one service, render. Errors become HTTP here and in web/, nowhere else."""
