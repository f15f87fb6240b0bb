import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Mark } from '../../../console/src/ui/parts';
import { lessons } from '../lessons';
import { choice, marked } from './choice';
import { Clock } from './clock';
import { Drawing } from './drawing';
import { fragmentOf, readFragment } from './fragment';
import { Inspector } from './inspector';
import { LessonCard, LessonList } from './lessons';
import { Copied, Own, Share } from './own';
import { commands, halt, isRunning, latest, lesson, nameOf, open, problem, runLesson, setup, speed } from './session';
import { sentenceOf } from './texts';

function report(error: unknown): void {
  halt();
  problem.value = error instanceof Error ? error.message : String(error);
}

/** Opens what the address says, or the first lesson. */
async function openAddress(): Promise<void> {
  try {
    // Ids and compressed worlds need no escapes.
    const fragment = location.hash.slice(1) || (lessons[0]?.id ?? '');
    const shared = await readFragment(fragment);
    open(shared.setup, shared.commands, shared.lesson);
  } catch (error) {
    report(error);
  }
  choice.value = undefined;
  marked.value = new Set();
}

/** Keeps the address at what is shown. */
function followAddress(): () => void {
  let last = 0;
  return effect(() => {
    const shared = {
      ...(lesson.value === undefined ? {} : { lesson: lesson.value }),
      setup: setup.value,
      commands: commands.value,
    };
    if (speed.value !== 0 || isRunning.value || problem.value !== '') return;
    const number = ++last;
    void fragmentOf(shared).then((fragment) => {
      if (number === last && fragment !== undefined) history.replaceState(undefined, '', `#${fragment}`);
    });
  });
}

function useVersion(profile: '3.10' | '4'): void {
  const of = lesson.value;
  const isDone = commands.value.length > 0;
  try {
    open({ ...setup.value, profile }, of === undefined ? commands.value : [], of);
  } catch (error) {
    return report(error);
  }
  if (of !== undefined && isDone) runLesson();
}

/** The page. */
export function App() {
  useEffect(() => {
    const opened = (): void => void openAddress();
    addEventListener('hashchange', opened);
    let end = (): void => undefined;
    void openAddress().then(() => (end = followAddress()));
    return () => {
      removeEventListener('hashchange', opened);
      end();
    };
  }, []);
  return (
    <>
      <header class="top">
        <a class="brand" href="../">
          <Mark />
          Dead letters, played
        </a>
        <div class="switch" role="group" aria-label="Behave like RabbitMQ">
          <small>RabbitMQ</small>
          {(['3.10', '4'] as const).map((profile) => (
            <button
              type="button"
              key={profile}
              aria-pressed={setup.value.profile === profile}
              onClick={() => setup.value.profile !== profile && useVersion(profile)}
            >
              {profile}
            </button>
          ))}
        </div>
        <Share />
      </header>
      <main class="stage">
        <div class="left">
          {problem.value !== '' && (
            <p class="banner banner-failed" role="alert">
              {problem.value}
            </p>
          )}
          <LessonCard />
          <Own />
          <LessonList />
        </div>
        <div class="middle">
          <section class="card" aria-label="Drawing">
            <Drawing />
          </section>
          <Clock />
          <p class="muted about">
            The engine of dlx-broker runs in this page, and nothing is sent. <a href="../guide/">The guide</a>
          </p>
        </div>
        <div class="right">
          <Inspector />
        </div>
      </main>
      <Copied />
      <p class="visually-hidden" aria-live="polite">
        {latest.value
          .slice(-6)
          .map((event) => sentenceOf(event, nameOf))
          .join('. ')
          .replaceAll('`', '')}
      </p>
    </>
  );
}
