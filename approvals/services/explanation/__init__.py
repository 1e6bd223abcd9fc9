"""What `explain` is made of: the case as read once, its rows as plain data, and the sentences people need first."""
