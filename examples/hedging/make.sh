#!/bin/sh
# Writes the answers of two made-up systems to 400 questions, and human labels of 120 of them.
# "rag" answers 70% correctly. "memory" answers 55% correctly, and hedges on 40% with "Rome or
# Paris", which contains the reference but is not an answer.
for system in rag memory; do
  awk -v name=$system 'BEGIN {
    print "id,response,label" > (name "-labels.csv")
    for (i = 0; i < 400; i++) {
      d = (i * 61 + (name == "rag") * 13 * int(i / 40)) % 100
      if (name == "rag") a = d < 70 ? "Paris" : "Rome"
      else a = d < 55 ? "Paris" : d < 95 ? "Rome or Paris" : "Rome"
      printf "{\"id\":\"q%d\",\"cluster\":\"c%d\",\"question\":\"Where?\",\"references\":[\"Paris\"],\"response\":\"%s\",\"correct\":%s}\n", i, i / 10, a, a == "Paris" ? "true" : "false" > (name ".jsonl")
      if (i * 37 % 400 < 120) print "q" i "," a "," (a == "Paris" ? "correct" : "incorrect") > (name "-labels.csv")
    }
  }'
done
