"""gem5's configuration language: objects with typed parameters, joined by ports, and the description made of them."""
