#!/usr/bin/env bash
# Runs the checks against a server of its own. Needs Python, kubectl and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT

python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --requirement requirements.txt
../with-server.sh "$environment/bin/python" clients.py
