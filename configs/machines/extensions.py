"""Breakeven's own classes and parameters in a preset: all of them here, and in a real gem5 those that it has.

A gem5 has none of them, or those that `patches/` give it. `extend(ours, cpu, ...)` calls a preset's `ours`: what this
simulator lacks is left out there, and its name is kept in `LEFT_OUT` for whoever runs the preset to tell.
"""

from m5 import objects

from machines.provenance import assumed

#: names of classes and parameters that presets asked for and this simulator lacks
LEFT_OUT = set()

#: classes that are breakeven's; the engine's own description of them: breakeven/config/data/ours.json
CLASSES = (
    *("AdjacentLinePrefetcher", "GshareBP", "IQUnit", "MisalignedAccess", "NextLinePrefetcher", "PathHistoryBP"),
    *("StreamPrefetcher", "WriteCombiningBuffers", "X86Instruction", "X86Microcode", "X86StringMode"),
)


def has_extensions():
    """Whether this is breakeven, which has all of them."""
    return all(hasattr(objects, name) for name in CLASSES)


def extend(ours, *parts):
    """`ours(*parts)`; in a real gem5 without what that lacks."""
    if has_extensions():
        ours(*parts)
        return
    missing = [name for name in CLASSES if not hasattr(objects, name)]
    for name in missing:
        setattr(objects, name, _class(name))
    try:
        ours(*(_wrapped(part) for part in parts))
    finally:
        for name in missing:
            delattr(objects, name)


class _Absent:
    """In place of an object that this simulator lacks: takes every parameter and keeps none."""

    def __init__(self, name):
        LEFT_OUT.add(name)

    def __setattr__(self, name, value):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, index):
        return self


def _class(name):
    return lambda *args, **parameters: _Absent(name)


class _Part:
    """An object of gem5's as a preset's `ours` sees it: what it lacks is noted in place of an error."""

    def __init__(self, part):
        self.__dict__["_part"] = part

    def __setattr__(self, name, value):
        plain = getattr(value, "value", value)  # without the mark of where it comes from
        if isinstance(plain, _Absent):
            return
        try:
            setattr(self._part, name, value)
        except AttributeError:
            LEFT_OUT.add(name)

    def __getattr__(self, name):
        try:
            found = getattr(self._part, name)
        except AttributeError:
            return _Absent(name)
        return _wrapped(found)

    def __getitem__(self, index):
        return _wrapped(self._part[index])


def _wrapped(found):
    """Objects of gem5's and vectors of them are parts again; values and functions are themselves."""
    return _Part(found) if hasattr(type(found), "_params") or isinstance(found, (list, tuple)) else found


def several(*prefetchers):
    """A cache's prefetchers at once: those that this simulator has."""
    had = [each for each in prefetchers if not isinstance(each, _Absent)]
    return objects.MultiPrefetcher(prefetchers=had) if had else objects.NULL


def target_buffer(entries, ways):
    """A branch target buffer of several ways; in a real gem5 a direct-mapped one."""
    if has_extensions():
        return objects.SimpleBTB(numEntries=entries, associativity=ways)
    LEFT_OUT.add("associativity")
    return objects.SimpleBTB(numEntries=entries)


def path_predictor(**parameters):
    """x86's predictor by the path of taken branches; in a real gem5 the nearest there is, LTAGE."""
    parameters["instShiftAmt"] = assumed(0, "instructions lie at any byte; gem5's 2 mixes up the branches of a word")
    if has_extensions():
        return objects.PathHistoryBP(**parameters)
    LEFT_OUT.add("PathHistoryBP")
    del parameters["historyLengths"]
    return objects.LTAGE(**parameters)


def sliced(cache, slices, gem5s):
    """The cache with so many slices; in a real gem5, whose sets are a power of two, of the size `gem5s`."""
    if has_extensions():
        cache.slices = slices
    else:
        LEFT_OUT.add("slices")
        cache.size = assumed(gem5s, "the most that a real gem5 takes")
    return cache
