import { lessons } from '../lessons';
import type { Lesson } from '../lessons/lesson';
import { type Command, readCommands } from '../world/command';
import { Misread } from '../world/fields';
import { readTopology } from '../world/topology';
import type { Setup } from '../world/world';

/** What the fragment of the address holds: a lesson that nothing was done in, or a world and its commands. */
export interface Shared {
  readonly lesson?: Lesson;
  readonly setup: Setup;
  readonly commands: readonly Command[];
}

/** The most characters of a fragment, and of what it holds. */
const most = { fragment: 32_000, text: 1_000_000 };

const isProfile = (text: unknown): text is Setup['profile'] => text === '3.10' || text === '4';

/** The fragment without `#`: `lesson`, `lesson@3.10`, or `=` and compressed JSON; undefined for what is too long. */
export async function fragmentOf({ lesson, setup, commands }: Shared): Promise<string | undefined> {
  const { profile, topology } = setup;
  if (lesson !== undefined && commands.length === 0) return profile === '4' ? lesson.id : `${lesson.id}@${profile}`;
  const text = JSON.stringify({ profile, ...(lesson === undefined ? { topology } : { lesson: lesson.id }), commands });
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const coded = btoa(String.fromCharCode(...bytes.subarray(0, most.fragment)));
  if (coded.length > most.fragment) return undefined;
  return `=${coded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** @throws Misread for what no page has written */
export async function readFragment(fragment: string): Promise<Shared> {
  if (!fragment.startsWith('=')) {
    const [id, profile = '4'] = fragment.split('@');
    const lesson = lessons.find((each) => each.id === id);
    if (lesson === undefined || !isProfile(profile)) throw new Misread('The link names no lesson.');
    return { lesson, setup: { topology: lesson.topology, profile }, commands: [] };
  }
  const shared = (await unpacked(fragment.slice(1))) as Readonly<Record<string, unknown>> | null;
  if (typeof shared !== 'object' || shared === null) throw new Misread('The link holds no topology.');
  const lesson = lessons.find((each) => each.id === shared['lesson']);
  const { profile } = shared;
  if (!isProfile(profile)) throw new Misread('The link names no version of RabbitMQ.');
  return {
    ...(lesson === undefined ? {} : { lesson }),
    setup: { topology: lesson?.topology ?? readTopology(shared['topology']), profile },
    commands: readCommands(shared['commands']),
  };
}

/** @throws Misread */
async function unpacked(coded: string): Promise<unknown> {
  try {
    const binary = atob(coded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
    const decoder = new TextDecoder();
    let text = '';
    // A few bytes can stand for gigabytes.
    for (let part = await reader.read(); !part.done && text.length < most.text; part = await reader.read())
      text += decoder.decode(part.value, { stream: true });
    return JSON.parse(text);
  } catch {
    throw new Misread('The link is not whole.');
  }
}
