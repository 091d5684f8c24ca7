#!/usr/bin/env bash
# Checks every shell script of ours: bash must be able to read it, and the
# linter for scripts must have nothing to say, where it is installed.
set -euo pipefail

scripts=(.ci/run scripts/*.sh)
for script in "${scripts[@]}"; do
  bash -n "$script"
  if [ ! -x "$script" ]; then
    echo "lint-shell: error: $script is not executable" >&2
    exit 1
  fi
done
if command -v shellcheck >/dev/null; then
  echo "shellcheck ${scripts[*]}"
  shellcheck "${scripts[@]}"
else
  echo "lint-shell: shellcheck is not installed, so only the syntax of ${#scripts[@]} scripts was checked" >&2
fi
