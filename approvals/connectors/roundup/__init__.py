"""`roundup`: issues of a Roundup tracker, through its REST interface.

Facts this relies on, seen with Roundup 2.6: a post-once-exactly link is gone before the issue is made, so "not
valid" may mean that the issue exists; a search on a text property finds substrings; a retired issue still answers
a GET but is in no search; numbers are given in order; CRLF is stored as LF; an empty text is a conflict (409); a
DELETE takes no content type; what it cannot explain it answers with 400 and "An error occurred".
"""

from approvals.connectors.roundup.connector import RoundupConnector

__all__ = ["RoundupConnector"]
