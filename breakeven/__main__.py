"""``python -m breakeven``."""

from breakeven.entry import main

main()
