"""One module per page: it reads what the page shows and gives it as plain data to a template."""
