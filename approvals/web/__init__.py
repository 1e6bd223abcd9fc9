"""The pages: what people see and press. Every control is a plain form or link first; htmx only improves it."""
