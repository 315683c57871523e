"""All faults and variations by name."""

from tests.blind.service_six import (
    eighth_infrastructure,
    eighth_meaning,
    eighth_regions,
    eighth_variations,
    eleventh_infrastructure,
    eleventh_meaning,
    eleventh_regions,
    eleventh_variations,
    fifth,
    fourth_infrastructure,
    fourth_meaning,
    fourth_regions,
    infrastructure,
    later,
    meaning,
    mechanical,
    ninth,
    regions,
    seventh,
    sixth,
    tenth_infrastructure,
    tenth_meaning,
    tenth_regions,
    tenth_variations,
    third_infrastructure,
    third_meaning,
    third_regions,
    thirteenth_infrastructure,
    thirteenth_meaning,
    thirteenth_regions,
    thirteenth_variations,
    twelfth_variations,
    variations,
)
from tests.blind.service_six.flaws import FAULTS, VARIATIONS, Flaw

# Importing them registers theirs.
MODULES = (
    *(infrastructure, regions, meaning, later, variations),
    *(third_infrastructure, third_regions, third_meaning),
    *(fourth_infrastructure, fourth_regions, fourth_meaning),
    *(fifth, sixth, seventh),
    *(eighth_infrastructure, eighth_regions, eighth_meaning, eighth_variations),
    ninth,
    *(tenth_infrastructure, tenth_regions, tenth_meaning, tenth_variations),
    *(eleventh_infrastructure, eleventh_regions, eleventh_meaning, eleventh_variations),
    twelfth_variations,
    *(thirteenth_infrastructure, thirteenth_regions, thirteenth_meaning, thirteenth_variations),
)


def names() -> list[str]:
    """Return the names of all single faults, mechanical ones last."""
    return [*FAULTS, *mechanical.names()]


def flaw(fault: str | None = None, variation: str | None = None) -> Flaw:
    """Return a fault, a variation or nothing; raise KeyError for an unknown name."""
    if variation:
        return VARIATIONS[variation]
    if not fault:
        return Flaw("")
    return mechanical.flaw(fault) if "@" in fault else FAULTS[fault]
