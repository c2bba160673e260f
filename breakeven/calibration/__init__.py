"""`breakeven calibrate`: probes of the host's processor, and the parameters of a model fitted to them.

`probe`: what a probe is; `bodies_*`: the probes themselves; `knobs`: the parameters and which probes decide each.
`host` and `model` measure the probes, `fit` searches, `machine_file` writes what was found. `judge` tries it on
routines that no probe is made of.
"""
