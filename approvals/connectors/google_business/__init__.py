"""`google_business`: replies to storefront reviews, through the Google Business Profile API (v4)."""

from approvals.connectors.google_business.connector import GoogleBusinessConnector

__all__ = ["GoogleBusinessConnector"]
