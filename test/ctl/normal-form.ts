import type { Outcome } from './target.js';

/** Names that differ between runs become the same. */
export interface Names {
  readonly vhost: string;
  readonly user: string;
}

/** What is said of our own, in the words of rabbitmqctl. */
const translations: readonly (readonly [RegExp, string])[] = [
  [/dlx-broker ctl \[--url <url>\] \[--user <user>\] \[--password <password>\] \[--quiet\]/g, 'CTL'],
  [/rabbitmqctl \[--node <node>\] \[--longnames\] \[--quiet\]/g, 'CTL'],
  [/dlx-broker ctl/g, 'rabbitmqctl'],
  // RabbitMQ's tools log what went wrong beside telling it.
  [/^\n?[0-9:.]+ \[warning\].*\n/gm, ''],
  // A connection or channel is a process there and has a name here.
  [/<rabbit@[^>]+>|#PID<[^>]+>/g, 'PID'],
  [/127\.0\.0\.1:[0-9]+ -> 127\.0\.0\.1:[0-9]+( \([0-9]+\))?/g, 'PID'],
  [/"node":"[^"]*"/g, '"node":"NODE"'],
  [/rabbit@\w+/g, 'NODE'],
];

/** Without what is not promised: the order of a list, the names made for one run, process ids. */
export function normalForm({ code, out, errors }: Outcome, { vhost, user }: Names, keep?: RegExp): Outcome {
  const plain = (text: string): string =>
    translations
      .reduce((line, [from, to]) => line.replace(from, to), text)
      .replaceAll(vhost, 'V')
      .replaceAll(user, 'U');
  const lines = plain(out).split('\n');
  const kept = keep === undefined ? lines : lines.filter((line) => keep.test(line));
  return {
    code,
    out: kept
      .map((line) => line.replace(/^,/, ''))
      .toSorted()
      .join('\n'),
    errors: plain(errors),
  };
}
