"""What people watch while a training runs."""
