import { configuration } from './configuration.js';
import { history } from './history.js';
import type { Lesson } from './lesson.js';
import { reasons } from './reasons.js';
import { retry } from './retry.js';
import { routing } from './routing.js';

export { endsOf, lineOf } from './ends.js';
export type { Ends, Lesson } from './lesson.js';

/** The chapters, in the order of learning. */
export const chapters: readonly { readonly title: string; readonly lessons: readonly Lesson[] }[] = [
  { title: 'Deaths', lessons: reasons },
  { title: 'Settings', lessons: configuration },
  { title: 'Routes', lessons: routing },
  { title: 'Histories', lessons: history },
  { title: 'Cycles and retries', lessons: retry },
];

export const lessons: readonly Lesson[] = chapters.flatMap((chapter) => chapter.lessons);
