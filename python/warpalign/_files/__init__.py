"""Images and volumes in files: what they hold, and results in their place."""
