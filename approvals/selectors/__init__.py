"""Named reads for pages, API and workers."""
