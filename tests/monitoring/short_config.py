#!/usr/bin/env python3
"""Writes a copy of the shipped Prometheus files that a test can wait for.

usage: short_config.py FOLDER TARGET...

The same rules and settings, but for the given targets, every second, and with alerts that wait 2 s instead of minutes.
"""
import pathlib
import sys

import yaml

from monitoring_files import MONITORING, read_yaml


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    config = read_yaml(MONITORING / "prometheus.yaml")
    config["global"].update(scrape_interval="1s", scrape_timeout="1s", evaluation_interval="1s")
    config["scrape_configs"][0]["static_configs"][0]["targets"] = targets
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for name in config["rule_files"]:
        document = read_yaml(MONITORING / name)
        for group in document["groups"]:
            for rule in group["rules"]:
                if "for" in rule:
                    rule["for"] = "2s"
        (folder / name).write_text(yaml.safe_dump(document), encoding="utf-8")


main()
