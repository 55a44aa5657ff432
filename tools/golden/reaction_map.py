#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes examples/reaction_map.expected: which reactant atom each product atom comes from, computed in float64.

    tools/golden/reaction_map.py [FOLDER]     FOLDER has encoder.safetensors, vocab.txt and reactions.txt
                                              [$HEED_DATA/rxnmapper, else ../shared/data/rxnmapper]

Every reaction runs alone, without padding, through plain NumPy: what heed computes in a padded batch of float32 must
give the same maps. Needs numpy, scipy and safetensors (pip).
"""
import os
import pathlib
import re
import sys

import numpy
import scipy.special
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADS, LAYERS, MAP_LAYER, MAP_HEAD = 8, 12, 10, 5
TOKEN = re.compile(r"\[[^\]]+\]|Br|Cl|>>|%[0-9][0-9]|.")
ATOM = re.compile(r"\[[0-9]*([A-Za-z][a-z]?)|(Br|Cl|[BCNOSPFIbcnosp])$")


def element(token):
    """The element of a token, in lower case; None where it is no atom."""
    if found := re.match(r"\[[0-9]*(Cl|Br|[A-Z][a-z]?|[a-z][a-z]?)", token):
        symbol = found.group(1)
        return symbol[0].lower() if symbol in ("nH", "cH", "sH", "oH", "pH") else symbol.lower()
    return token.lower() if re.fullmatch("Br|Cl|[BCNOSPFIbcnosp]", token) else None
