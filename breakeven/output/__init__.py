"""What is shown: tables and progress on a terminal, plots, tables in a notebook."""
