#!/bin/sh
# Try the tests that just failed once more, alone: two busy cores make some of them late, and late is not wrong.
# What fails again is broken. What passes now is named, since a test that needs a quiet machine is a defect as well.
# More than a handful of failures is no matter of load: they are not tried again.
#
#     tools/once_more.sh EXIT_CODE PYTEST [ARGUMENTS ...]
set -u
code=$1
shift
failed=.pytest_cache/v/cache/lastfailed
[ "$code" -eq 1 ] && [ -f "$failed" ] || exit "$code"
count=$(grep -c '": true' "$failed")
[ "$count" -le "${MOST_AGAIN:-5}" ] || exit "$code"
names=$(sed -n 's/^ *"\(.*\)": true.*/  \1/p' "$failed")
printf '\n%s failed among the others; once more, alone:\n%s\n' "$count" "$names"
"$@" --last-failed --last-failed-no-failures none --numprocesses 0 || exit $?
printf '\nFailed among the others and passed alone; please look into it:\n%s\n' "$names"
