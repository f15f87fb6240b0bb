import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { wordsOf } from '../world/words.js';
import { World } from '../world/world.js';
import { chapters, endsOf, lessons } from './index.js';

const rules = readFileSync(new URL('../../../../docs/internals/rules.md', import.meta.url), 'utf8');

describe.each(['3.10', '4'] as const)('in the world of %s', (profile) => {
  it.each(lessons)('$id ends as it says', ({ topology, steps, shows, ends, on4 }) => {
    const world = World.replay({ topology, profile }, steps);
    expect(endsOf(world.state, world.events, shows)).toEqual(profile === '4' && on4 ? on4.ends : ends);
    expect(world.stopped).toBeUndefined();
  });
});

describe('each lesson', () => {
  it('has a name of its own', () => {
    expect(new Set(lessons.map(({ id }) => id)).size).toBe(lessons.length);
    expect(chapters.flatMap((chapter) => chapter.lessons)).toEqual(lessons);
  });

  it.each(lessons)('$id cites rules, and ends otherwise where it says so', (lesson) => {
    for (const rule of lesson.rules) expect(rules).toContain(`- **${rule}**`);
    if (lesson.on4 === undefined) return;
    expect(lesson.on4.ends).not.toEqual(lesson.ends);
    expect(lesson.answers[lesson.on4.answer ?? 0]).toBeTypeOf('string');
  });

  it.each(lessons)('$id closes each of its backticks', ({ text, question, answers, why, on4 }) => {
    for (const each of [text, question, ...answers, why, on4?.why ?? ''])
      expect(each.split('`').length % 2, each).toBe(1);
  });

  it.each(lessons)('$id has words for each step but waiting', ({ steps }) => {
    for (const step of steps) if (step.do !== 'wait') expect(Object.keys(wordsOf(step))).not.toEqual([]);
  });
});
