"""The part of gem5's standard library that scripts start with, for the embedded engine: a script sees it as ``gem5``.

Names, arguments and defaults are gem5's; the code is ours. Components are SimObjects that adopt what they are made of:
the tree has gem5's paths (``board.processor.cores.core``).
"""
