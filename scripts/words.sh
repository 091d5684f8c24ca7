#!/usr/bin/env bash
# words.sh [--docs | --count]: find phrases in user-facing text that make a native reader stumble.
#
# It prints file:line for each phrase in the documents, in the README and in the program's
# help and messages, then the words of each document. With --docs it looks only at the
# documents, and fails when one has such a phrase. Blocks of output are not
# looked at in documents: the program that prints them is. With --count it prints the words
# of each document: its prose, without blocks of code and tables, and then all of it.
set -euo pipefail
cd "$(dirname "$0")/.."

# "there is no" and "is no longer" are plain English; the others have a plainer form.
phrases='(is|are|was|were) no|whoever|whosoever|whatever it is|beside|that which|those who|how-manieth|none of which|it is what|is what one|one would|somebody else|goes? on where|stands? or falls?|off the menu|never came|at hand|thinks? before|now less before|whose worth|says? nothing of|tells? of|said of|(be|is|are) had|wished|is closed to|for the sake of|as careful as|a thing by'

# look prints where files have a phrase: in the prose of documents, in the strings of code.
look() {
  awk -v phrases="(^|[^a-z_-])($phrases)([^a-z_]|\$)" '
    function strings(line,    i, c, out, quoted) { # the text of Go literals, across lines for raw ones
      for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "`") { raw = !raw; continue }
        if (!raw && !quoted && substr(line, i, 2) == "//") break
        if (!raw && c == "\\") { i++; continue }
        if (!raw && c == "\"") { quoted = !quoted; out = out "\n"; continue }
        if (raw || quoted) out = out c
      }
      return out
    }
    FNR == 1 { fenced = raw = 0 }
    FILENAME ~ /\.md$/ && /^ *```/ { fenced = !fenced; next }
    FILENAME ~ /\.md$/ && (fenced || /^<!--/) { next }
    {
      line = tolower(FILENAME ~ /\.go$/ ? strings($0) : $0)
      gsub(/there (is|are|was|were) no |(is|are|was|were) no (longer|more than)/, "", line)
      while (match(line, phrases)) {
        n++
        printf "%s:%d: %s\n", FILENAME, FNR, substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH - 1)
      }
    }
    END { printf "words: %d phrases in %d files\n", n, ARGC - 1 > "/dev/stderr"; exit n > 0 }' "$@"
}

mapfile -t pages < <(find docs -name '*.md' | sort)
if [ "${1:-}" = --docs ]; then
  look README.md CONTRIBUTING.md SECURITY.md python/README.md examples/*/*.md "${pages[@]}"
  exit
fi
if [ "${1:-}" = --count ]; then
  awk '
    FNR == 1 { fenced = 0 }
    { all[FILENAME] += NF; total += NF }
    /^ *```/ { fenced = !fenced; next }
    !fenced && !/^ *\|/ && !/^<!--/ { prose[FILENAME] += NF; sum += NF }
    END {
      for (name in all) printf "%6d %6d %s\n", prose[name], all[name], name | "sort -n"
      close("sort -n")
      printf "%6d %6d total: words of prose, and all words\n", sum, total
    }' README.md "${pages[@]}"
  exit
fi
look README.md CONTRIBUTING.md "${pages[@]}" || true
mapfile -t code < <(find internal report judge benchmark model bundle probe stat -name '*.go' ! -name '*_test.go' ! -path '*/ci/*' | sort)
look "${code[@]}" || true
"$0" --count
