import type { Queue, SettingSource } from '../../../engine/broker/index.js';
import { fieldToJson } from '../../api/field-json.js';
import { sourcesOf, sourceText } from './settings-json.js';

/** A short sign for something that is set for a queue, and a text that says what. */
export interface Feature {
  readonly letter: string;
  readonly tip: string;
}

/** The letters of settings in the order of RabbitMQ's page. */
const letters: ReadonlyMap<string, string> = new Map([
  ['message-ttl', 'TTL'],
  ['expires', 'Exp'],
  ['max-length', 'Lim'],
  ['max-length-bytes', 'LimB'],
  ['delivery-limit', 'DlL'],
  ['overflow', 'Ovfl'],
  ['single-active-consumer', 'SAC'],
  ['dead-letter-exchange', 'DLX'],
  ['dead-letter-routing-key', 'DLK'],
  ['max-priority', 'Pri'],
]);

/** The most characters of a text. */
const longestTip = 400;

/** The features of a queue by RabbitMQ's letters. Unlike RabbitMQ's page they include what policies set. */
export function featuresOf(queue: Queue): readonly Feature[] {
  const { declared, inForce } = queue;
  const sources = sourcesOf(queue);
  const byKey = new Map(sources.map((source) => [source.key, source]));
  const found: Feature[] = [];
  const add = (letter: string, tip: string): void => void found.push({ letter, tip: tip.slice(0, longestTip) });
  if (declared.durable) add('D', 'durable');
  if (declared.autoDelete) add('AD', 'auto-delete');
  if (declared.owner !== undefined) add('Excl', 'exclusive');
  for (const [key, letter] of letters) {
    const source = byKey.get(key);
    if (source !== undefined && isSet(source)) {
      add(letter, `${key}: ${String(source.value)} (${sourceText(queue, source.by)})`);
    }
  }
  const others = otherArguments(queue, byKey);
  if (others.length > 0) add('Args', others.join(', '));
  if (inForce.policy !== undefined) add('Pol', `policy: ${inForce.policy.name}`);
  if (inForce.operatorPolicy !== undefined) add('OP', `operator policy: ${inForce.operatorPolicy.name}`);
  return found;
}

const isSet = ({ value, by }: SettingSource): boolean => by !== 'default' && value !== undefined && value !== false;

/** The arguments without a letter. */
function otherArguments({ declared }: Queue, byKey: ReadonlyMap<string, SettingSource>): readonly string[] {
  const others: string[] = [];
  for (const [name, field] of declared.arguments) {
    const key = name.replace(/^x-/, '');
    if (name === 'x-queue-type' || (letters.has(key) && byKey.get(key)?.hasEffect === true)) continue;
    others.push(`${name}: ${textOf(fieldToJson(field))}`);
  }
  return others;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
