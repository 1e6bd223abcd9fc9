"""`http`: any JSON API, described by URL templates; requests are signed per Standard Webhooks or carry a token.

The body is the payload's own slice of the approved bytes. A signature covers the delivery id, the time of the
attempt and the body: https://www.standardwebhooks.com, symmetric scheme `v1`.
"""

from approvals.connectors.http.connector import HttpConnector

__all__ = ["HttpConnector"]
