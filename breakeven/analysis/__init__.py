"""Analysis: who leads where, break-evens, searches for them, what they depend on, where cycles go."""
