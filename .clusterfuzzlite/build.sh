#!/usr/bin/env bash
# Builds every fuzz target with its seeds into $OUT, as ClusterFuzzLite wants it.
set -euo pipefail
cd "$SRC/onrecord"

cargo run --locked -p onrecord-fuzz --example seeds
cargo fuzz build -O --features libfuzzer --target-dir "$WORK/fuzz"
for file in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$file" .rs)
    cp "$WORK"/fuzz/*/release/"$target" "$OUT/"
    (cd "fuzz/corpus/$target" && zip --quiet --recurse-paths "$OUT/${target}_seed_corpus.zip" .)
done
