#!/usr/bin/env bash
# Makes a commit and a tag of a new version: the version in CMakeLists.txt, the one place where it stands, and the
# heading of what is unreleased in CHANGELOG.md. Pushes nothing.
#   scripts/release.sh VERSION [--dry-run]      --dry-run: shows the change, and leaves everything as it was
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
  echo "release.sh: $1" >&2
  exit 1
}

[[ $# -ge 1 && $# -le 2 && "${2:---dry-run}" == --dry-run ]] ||
  { echo "usage: release.sh VERSION [--dry-run]" >&2; exit 2; }
new=$1
dry=${2:-}
[[ "$new" =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] || fail "'$new' is no version such as 0.2.0"
old=$(scripts/version.sh)
! git rev-parse -q --verify "refs/tags/v$new" >/dev/null || fail "the tag v$new exists: name a later version"
[[ "$(printf '%s\n' "$old" "$new" | sort -V | tail -n 1)" == "$new" ]] ||
  fail "$new is before $old, the version in CMakeLists.txt"
[[ -z "$(git status --porcelain --untracked-files=no)" ]] ||
  fail "there are changes that are not committed: commit or stash them"
heading=$(grep -nE '^## .*\(unreleased\)$' CHANGELOG.md) || fail "CHANGELOG.md has no heading '## … (unreleased)'"
line=${heading%%:*}
first=$(sed -n "$((line + 1)),\$p" CHANGELOG.md | grep -m 1 -E '^(## |- )' || true)
[[ "$first" == "- "* ]] || fail "CHANGELOG.md has nothing under '${heading#*:}': say what is new"

trap 'git checkout -q -- CMakeLists.txt CHANGELOG.md' EXIT  # nothing to do once there is a commit
sed -i -E "s/^(project\(epsflow VERSION )[0-9.]+ /\1$new /" CMakeLists.txt
sed -i "${line}s/.*/## $new ($(date -u +%F))/" CHANGELOG.md
[[ "$(scripts/version.sh)" == "$new" ]] || fail "the version in CMakeLists.txt could not be changed"
if [[ -n "$dry" ]]; then
  git --no-pager diff
  exit 0
fi
git commit -q -m "Version $new" -- CMakeLists.txt CHANGELOG.md
git tag -a "v$new" -m "epsflow $new"
echo "Made the commit and the tag v$new. To publish: git push origin HEAD v$new. What comes next goes under a new" \
     "heading (unreleased) in CHANGELOG.md."
