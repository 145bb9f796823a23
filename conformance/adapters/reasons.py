#!/usr/bin/env python3
"""Gives each entry of an adapter's baseline its reason: `reasons.py <adapter> <report.json>`.

`<adapter>/reasons.json` lists what the library is known to do, each with a pattern of the findings that follow from it. A
finding reads `<rule> <case> [<target rule>] <message>` there. An entry whose findings no pattern matches keeps the reason
that somebody wrote by hand; one without any is named, and the exit code is 1: look at it, for it is something new.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent


def lines(check):
    findings = check.get("findings") or [{"message": "not exercised"}]
    for finding in findings:
        yield f"{check['rule']} {check['case']} [{finding.get('target_rule') or ''}] {finding['message']}"


def main(adapter, report):
    folder = HERE / adapter
    baseline = json.loads((folder / "baseline.json").read_text())
    known = [(re.compile(entry["findings"]), entry) for entry in json.loads((folder / "reasons.json").read_text())]
    checks = {check["check"]: check for check in json.loads(pathlib.Path(report).read_text())["checks"]}
    used, unexplained = set(), []
    for entry in baseline["expected"]:
        reasons, missed = [], []
        for line in lines(checks[entry["check"]]):
            found = next((known_entry for pattern, known_entry in known if pattern.search(line)), None)
            if found is None:
                missed.append(line)
            elif found["reason"] not in reasons:
                reasons.append(found["reason"])
                used.add(found["findings"])
        if missed and not entry["reason"]:
            unexplained += missed
        if reasons and not missed:
            entry["reason"] = "; ".join(reasons)
    (folder / "baseline.json").write_text(json.dumps(baseline, indent=2, ensure_ascii=False) + "\n")
    for line in unexplained:
        print("no reason is known for:", line)
    for pattern, entry in known:
        if entry["findings"] not in used:
            print("nothing is explained any more by:", entry["findings"])
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
