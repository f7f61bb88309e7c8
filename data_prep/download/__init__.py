"""Fetches and unpacks the official archives."""
