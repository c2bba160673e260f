"""Files: where breakeven's own data lies, what the user names, what is written; the compiled engine and the guests."""
