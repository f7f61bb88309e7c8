"""The official archives: where they are, how they are fetched and unpacked."""
