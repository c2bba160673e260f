"""Work items end simulate(); the guest goes on where it was."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

system = whole_system(sys.argv[1])
system.exit_on_work_items = True
root = Root(full_system=True, system=system)
m5.instantiate()
seen = []
while True:
    event = m5.simulate()
    seen.append((event.getCause(), event.getCode()))
    if event.getCause() not in ("workbegin", "workend"):
        break
print(seen)
