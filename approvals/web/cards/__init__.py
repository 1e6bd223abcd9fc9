"""What the component templates show, as plain data: one module per component, built from rows, never from requests."""
