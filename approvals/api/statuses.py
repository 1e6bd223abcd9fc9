"""What a call may answer, for the OpenAPI document: problem documents of every kind it can meet, and its success."""

from approvals.api.documents import DraftDocument, Problem

ANY = dict.fromkeys((401, 403, 422, 503), Problem)
"""A token that is none, a scope it lacks, a query that is odd, a database that is away."""
READS = {**ANY, 404: Problem}
WRITES = {**READS, 411: Problem, 413: Problem}
DECIDES = {**WRITES, 409: Problem}
MOVES = {200: DraftDocument, **DECIDES}
