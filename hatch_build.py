"""Compiles the shipped YAML files into the wheel."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what `compiled_yaml.py` loads; an editable install reads the files themselves."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the files that servers and conformance runs read."""
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, self.root)
        from mockserver import compiled_yaml, yamltext  # noqa: PLC0415 - found from here on

        self._folder = tempfile.TemporaryDirectory()
        place = Path(self._folder.name)
        compiled_yaml.write(yamltext.shipped(root), place)
        build_data["force_include"][str(place)] = "mockserver/_data/compiled"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel by now."""
        if version != "editable":
            self._folder.cleanup()
