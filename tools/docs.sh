#!/bin/sh
# docs.sh BUILD: write what is made from tables: man pages, completions, docs/options.md.
set -eu
cd "$(dirname "$0")/.."
build=$1

cmake --build "$build" --target cli_docs
python3 tools/options_doc.py "$build/src/cli/sinter"
git status --short man completions docs/options.md
