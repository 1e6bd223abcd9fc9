"""The admin site: everything can be seen; what may be changed goes through the services; nothing is deleted."""

from django.contrib import admin
from django.contrib.auth.models import Group

from approvals.admin import approvals, channels, deliveries, drafts, outbox, people, records, rooms, targets

__all__ = ["approvals", "channels", "deliveries", "drafts", "outbox", "people", "records", "rooms", "targets"]

admin.site.site_header = admin.site.site_title = "Review Room administration"
admin.site.index_title = "Everything there is; history is read-only"
admin.site.unregister(Group)  # what people may do stands in memberships of rooms
