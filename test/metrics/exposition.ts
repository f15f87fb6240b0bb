/** A series of a page, with its labels by name. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** A page in Prometheus' text format 0.0.4, read strictly. */
export interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const lineOf = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const labelOf = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const parts = /_(bucket|sum|count)$/;

/** @throws for what Prometheus would refuse: a bad line, a series twice, a family in two pieces, a series without a type */
export function readExposition(text: string): Exposition {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  let family = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment !== null) {
      const [, what, name, said] = comment as unknown as [string, string, string, string];
      const table = what === 'HELP' ? helps : types;
      if (table.has(name)) throw new Error(`${line}: a second time`);
      table.set(name, said);
      family = name;
      continue;
    }
    const found = lineOf.exec(line);
    if (found === null) throw new Error(`no series: ${line}`);
    const [, name, labelText = '', number] = found as unknown as [string, string, string | undefined, string];
    const isPart = types.get(family) === 'histogram' || types.get(family) === 'summary';
    if (name !== family && !(isPart && name.replace(parts, '') === family))
      throw new Error(`${line} is not of ${family}`);
    if (!types.has(family)) throw new Error(`${family} has no type`);
    const labels = readLabels(labelText, line);
    const key = `${name}${JSON.stringify([...labels].sort())}`;
    if (seen.has(key)) throw new Error(`${line}: a series twice`);
    seen.add(key);
    samples.push({ name, labels, value: readNumber(number, line) });
  }
  return { types, helps, samples };
}

function readLabels(text: string, line: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  labelOf.lastIndex = 0;
  while (labelOf.lastIndex < text.length) {
    const found = labelOf.exec(text);
    if (found === null) throw new Error(`bad labels: ${line}`);
    const [, name, value] = found as unknown as [string, string, string];
    if (labels.has(name)) throw new Error(`a label twice: ${line}`);
    labels.set(
      name,
      value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)),
    );
  }
  return labels;
}

function readNumber(text: string, line: string): number {
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  const number = Number(text);
  if (Number.isNaN(number) && text !== 'NaN') throw new Error(`no number: ${line}`);
  return number;
}

/** The value of a series with exactly these labels. @throws when there is none */
export function valueOf({ samples }: Exposition, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels);
  const found = samples.find(
    (sample) =>
      sample.name === name &&
      sample.labels.size === wanted.length &&
      wanted.every(([label, value]) => sample.labels.get(label) === value),
  );
  if (found === undefined) throw new Error(`no series ${name}${JSON.stringify(labels)}`);
  return found.value;
}
