"""config.ini and config.json describe what was built."""

import configparser
import json
import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1], caches=True))
m5.instantiate()
ini = configparser.ConfigParser(strict=True)
ini.optionxform = str
assert ini.read(f"{m5.options.outdir}/config.ini")
assert ini["root"]["type"] == "Root" and ini["root"]["children"] == "system"
assert ini["system.cpu.dcache"]["size"] == "4096" and ini["system.clk_domain"]["clock"] == "1000"
assert ini["system.cpu.dcache"]["cpu_side"] == "system.cpu.dcache_port"
assert ini["system.cpu"]["dcache_port"] == "system.cpu.dcache.cpu_side"
assert ini["system.cpu.dcache"]["mem_side"].startswith("system.membus.cpu_side_ports[")
with open(f"{m5.options.outdir}/config.json") as file:
    tree = json.load(file)
assert tree["type"] == "Root" and tree["system"]["cpu"]["dcache"]["size"] == 4096
assert tree["system"]["cpu"]["path"] == "system.cpu"
print(len(ini.sections()), "objects")
