"""Cache coherence protocols by name; breakeven has gem5's classic caches only."""

from __future__ import annotations

from enum import Enum


class CoherenceProtocol(Enum):
    MESI_THREE_LEVEL = "mesi_three_level"
    MESI_TWO_LEVEL = "mesi_two_level"
    MI_EXAMPLE = "mi_example"
    ARM_MOESI_HAMMER = "moesi_hammer"
    GARNET_STANDALONE = "garnet_standalone"
    MOESI_CMP_TOKEN = "moesi_cmp_token"
    MOESI_CMP_DIRECTORY = "moesi_cmp_directory"
    MOESI_AMD_BASE = "moesi_amd_base"
    CHI = "chi"
    NONE = "none"
    NULL = "null"
