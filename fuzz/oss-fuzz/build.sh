#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them. They come into $OUT, each with its
# TARGET_seed_corpus.zip, TARGET.options and TARGET.dict, and the libraries that they need into $OUT/lib.
# Compilers, flags and engine are those of the environment. scripts/check-oss-fuzz tries all this without Docker.
set -euo pipefail

top=$SRC/tracebridge
build=$WORK/build
seeds=$WORK/seeds

targets=()
for options in "$top"/fuzz/options/*.options; do
  targets+=("$(basename "$options" .options)")
done

# C++ libraries of the distribution do not fit the C++ library of the image, which is libc++: so fmt is in its
# headers, and as nothing of libfmt is needed then, --as-needed leaves it out. The image's clang is newer than
# the distribution's fmt, whose checks at compile time it refuses.
export CXXFLAGS="${CXXFLAGS:-} -DFMT_HEADER_ONLY -DFMT_CONSTEVAL="
# The libraries' own libraries are found by RPATH, not by RUNPATH.
export LDFLAGS="${LDFLAGS:-} -Wl,--as-needed -Wl,--disable-new-dtags"
# A build type that has no flags of its own.
cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_BUILD_RPATH="\$ORIGIN/lib" -DTRACEBRIDGE_FUZZ=ON \
  -DTRACEBRIDGE_FUZZING_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$build" --parallel "$(nproc)" --target make_seeds "${targets[@]/%/_fuzzer}"

# There may be no looking for leaks in a container.
rm -rf "$seeds"
ASAN_OPTIONS=detect_leaks=0 "$build/fuzz/make_seeds" "$top/golden" "$seeds"

mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  install -m 755 "$build/fuzz/${target}_fuzzer" "$OUT/$target"
  install -m 644 "$top/fuzz/options/$target.options" "$OUT"
  if [[ -e $top/fuzz/dictionaries/$target.dict ]]; then
    install -m 644 "$top/fuzz/dictionaries/$target.dict" "$OUT"
  fi

  # An input's name is the hash of its content, so that each is there once.
  named=$seeds/$target.named
  mkdir -p "$named"
  for folder in "$seeds/$target" "$top/fuzz/corpus/$target" "$top/fuzz/regressions/$target"; do
    [[ -d $folder ]] || continue
    find "$folder" -type f -exec sha1sum {} + | while read -r hash input; do
      cp "$input" "$named/$hash"
    done
  done
  rm -f "$OUT/${target}_seed_corpus.zip"
  zip -q -r -j "$OUT/${target}_seed_corpus.zip" "$named"

  # Where the targets run there is nothing but libc's own libraries.
  ldd "$build/fuzz/${target}_fuzzer" | while read -r name arrow path _; do
    case $name in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) ;;
      *) if [[ $arrow == '=>' ]]; then install -m 644 "$path" "$OUT/lib/$name"; fi ;;
    esac
  done
done
