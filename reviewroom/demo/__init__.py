"""What the demo talks to."""
