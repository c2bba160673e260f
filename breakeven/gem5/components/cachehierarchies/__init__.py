"""Cache hierarchies."""
