"""`breakeven calibrate`: measures the host's processor with probes and fits the parameters of a model to them.

- `probe` defines a probe; `core_probes` and `memory_probes` hold the probes, `probes` lists them.
- `host` and `model` measure probes; `host_program` is the C program that does so on the host.
- `knobs` lists the parameters to fit and the probes that decide each; `fit` searches their values.
- `machine_file` writes the fitted machine, `report` prints it, `workflow` runs all steps.
- `accuracy` compares a model with the host on whole routines, which no probe contains.
"""
