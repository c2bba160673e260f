"""Studies: published claims, the simulations that test them, reports and the ledger."""
