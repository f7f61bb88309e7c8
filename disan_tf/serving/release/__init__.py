"""Released models: publishing them, their cards, and finding them by name."""
