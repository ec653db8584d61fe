#!/bin/sh
# Themes to the letter of the paper: every run of docs/evaluation.md, "Themes", one after another, in one process each.
#
#   tools/themes.sh DATA OUT
#
# DATA holds eurovoc/ and corpus/ (the 41,000 articles). A step that is done is not done again, and one that was
# interrupted goes on where it stopped, so the same command may be given until all is there.
set -eu
data=${1:?the folder with eurovoc/ and corpus/, as make themes DATA=folder}
out=${2:?a folder for the results}
thesaurus=$(ls "$data"/eurovoc/eurovoc*.json.gz | head -n 1)
mkdir -p "$out"

eval_thematic() {
    nice -n 15 likewise eval thematic --thesaurus "$thesaurus" "$@"
}

build() { # NAME, then options: a space of the articles
    [ -f "$out/spaces/$1/manifest.json" ] && return
    name=$1 && shift
    nice -n 15 likewise space build "$data/corpus/wikipedia-mix-41k.jsonl.gz" --out "$out/spaces/$name" "$@"
}

build articles
build articles-unstemmed --stemmer none
for space in wordnet articles articles-unstemmed; do
    folder=$space
    [ "$space" = wordnet ] || folder=$out/spaces/$space
    eval_thematic --departures --space "$folder" --out "$out/departures-$space"
done
for degree in 0 50 100; do
    eval_thematic --degree "$degree" --cells 1x1x1 --throughput 0 --out "$out/degree-$degree"
done
eval_thematic --cold-start --out "$out/cold-start"
for space in wordnet articles; do
    folder=$space
    [ "$space" = wordnet ] || folder=$out/spaces/$space
    eval_thematic --letter --space "$folder" --cells 30x30x5 --throughput 0 --master 'local[1]' --out "$out/letter-$space"
    eval_thematic --space "$folder" --cells 30x30x5 --throughput 0 --master 'local[1]' --out "$out/ours-$space"
done
