"""The rules of Home Assistant's own source for sensors that are discovered, read from a checkout of its repository.

Its schema cannot be imported without Home Assistant, so that the constants it goes by are evaluated from the source:
classes, units and kinds of statistics, and the keys that `mqtt` accepts. LIKEWISE_HOME_ASSISTANT names the checkout.
"""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class HomeAssistantRules:
    """What Home Assistant accepts of a configuration of `sensor` or `binary_sensor`."""

    def __init__(self, checkout: Path) -> None:
        base = checkout / "homeassistant"
        names: dict[str, Any] = {"StrEnum": StrEnum, "Final": None}
        for file in ("const.py", "components/sensor/const.py", "components/binary_sensor/__init__.py"):
            self._evaluate(base / file, names)
        self.classes: dict[Any, Any] = names["DEVICE_CLASS_UNITS"]
        self.statistics: dict[Any, Any] = names["DEVICE_CLASS_STATE_CLASSES"]
        self.sensors = {str(each.value) for each in names["SensorDeviceClass"]}
        self.binary = {str(each.value) for each in names["BinarySensorDeviceClass"]}
        self.state_classes = {str(each.value) for each in names["SensorStateClass"]}
        self.state_class_units: dict[Any, Any] = names.get("STATE_CLASS_UNITS", {})
        self.ambiguous: dict[Any, str] = names.get("AMBIGUOUS_UNITS", {})
        files = ("schemas.py", "sensor.py", "binary_sensor.py", "config.py")
        source = "".join((base / "components/mqtt" / name).read_text() for name in files)
        keys = re.findall(r"vol\.(?:Optional|Required|Exclusive)\(\s*CONF_(\w+)", source)
        self.keys = {each.lower() for each in keys}

    @staticmethod
    def _evaluate(path: Path, names: dict[str, Any]) -> None:
        """Evaluate what can be: enumerations, constants, and tables of them; the rest needs Home Assistant."""
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
                node = ast.copy_location(ast.Assign([node.target], node.value), node)
            if isinstance(node, ast.ClassDef | ast.Assign):
                module = ast.fix_missing_locations(ast.Module([node], []))
                for missing in re.findall(r"\b(\w+)Converter\b", ast.unparse(node)):
                    unit = names.get(f"UnitOf{missing}", ())
                    names.setdefault(f"{missing}Converter", SimpleNamespace(VALID_UNITS=set(unit)))
                try:
                    exec(compile(module, str(path), "exec"), names)
                except Exception:
                    continue

    def check(self, component: str, config: dict[str, Any]) -> None:
        """Refuse a configuration as Home Assistant would."""
        aliases = {"unit_of_measurement", "device_class", "state_class", "value_template", "unique_id", "name"}
        assert set(config) <= self.keys | aliases | {"state_topic", "payload_on", "payload_off"}, config
        assert config["device"]["identifiers"]
        assert config["origin"]["name"]
        assert not set("+#") & set(config["state_topic"])
        kind, statistics = config.get("device_class"), config.get("state_class")
        if component == "binary_sensor":
            assert kind is None or kind in self.binary, kind
            assert config["payload_on"] != config["payload_off"]
            return
        assert kind is None or kind in self.sensors, kind
        assert statistics is None or statistics in self.state_classes, statistics
        unit = config.get("unit_of_measurement")
        unit = self.ambiguous.get(unit, unit)
        if kind is not None and kind in self.classes:
            assert unit in self.classes[kind], (kind, unit, self.classes[kind])
        if statistics is not None and kind in self.statistics:
            assert statistics in self.statistics[kind], (kind, statistics)
        if statistics in self.state_class_units:
            assert unit in self.state_class_units[statistics], (statistics, unit)
