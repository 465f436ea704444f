#!/usr/bin/env bash
# Runs the checks against a server of its own. Needs a JDK, Maven, kubectl and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

mvn --quiet "-Dbuild=$build" compile
../with-server.sh mvn --quiet "-Dbuild=$build" exec:java
