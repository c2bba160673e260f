"""Programs and other files, all of them local."""
