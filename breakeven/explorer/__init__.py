"""`breakeven explore`: a page on this machine that shows what a parameter of the hardware does to a break-even.

`launch` serves the page (`server`), which asks for points; `hub` orders the questions of all tabs, `worker` is the
process that simulates (`simulate`), `page` puts the page together, with or without a server behind it.
"""
