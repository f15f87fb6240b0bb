import { signal } from '@preact/signals';
import { chapters, lessons } from '../lessons';
import type { Lesson } from '../lessons/lesson';
import { Prose } from './prose';
import { halt, isOver, isRunning, left, lesson, runLesson, setup } from './session';

/** The chosen answer of the lesson that is open, by its lesson. */
const guess = signal<{ readonly of: string; readonly answer: string } | undefined>(undefined);

/** The open lesson: what it is about, the question, the run, and why. */
export function LessonCard() {
  const of = lesson.value;
  if (of === undefined)
    return (
      <section class="card lesson">
        <div class="card-body">
          <h1>Your own topology</h1>
          <p>Choose a part of the drawing to see what can be done with it. The address holds everything: send it.</p>
        </div>
      </section>
    );
  const chosen = guess.value?.of === of.id ? guess.value.answer : undefined;
  const at = lessons.findIndex(({ id }) => id === of.id);
  const chapter = chapters.find((each) => each.lessons.includes(of));
  return (
    <section class="card lesson" aria-label="Lesson">
      <div class="card-body">
        <p class="muted">
          {chapter?.title}, {at + 1} of {lessons.length}
        </p>
        <h1 tabIndex={-1}>{of.title}</h1>
        <p>
          <Prose of={of.text} />
        </p>
        <fieldset>
          <legend>
            <Prose of={of.question} />
          </legend>
          {shuffled(of).map((answer) => (
            <label key={answer} class={`answer ${isOver.value && answer === rightOf(of) ? 'right' : ''}`}>
              <input
                type="radio"
                name="answer"
                checked={chosen === answer}
                onChange={() => (guess.value = { of: of.id, answer })}
              />
              <span>
                <Prose of={answer} />
              </span>
            </label>
          ))}
        </fieldset>
        <div class="lesson-actions">
          {isRunning.value ? (
            <button type="button" onClick={halt}>
              Pause
            </button>
          ) : (
            <button type="button" class="primary" onClick={runLesson}>
              {isOver.value || left.value === undefined ? 'Run again' : 'Run'}
            </button>
          )}
          {lessons[at - 1] !== undefined && <a href={`#${lessons[at - 1]?.id}`}>Previous</a>}
          {lessons[at + 1] !== undefined && <a href={`#${lessons[at + 1]?.id}`}>Next</a>}
        </div>
        {isOver.value && !isRunning.value && <Why of={of} chosen={chosen} />}
      </div>
    </section>
  );
}

/** The right answer on the version that is shown. */
const rightOf = ({ answers, on4 }: Lesson): string =>
  answers[setup.value.profile === '4' ? (on4?.answer ?? 0) : 0] ?? answers[0];

function Why({ of, chosen }: { of: Lesson; chosen: string | undefined }) {
  const { on4, why, rules } = of;
  const right = rightOf(of);
  const is4 = setup.value.profile === '4';
  const here = on4 !== undefined && is4 ? on4.why : why;
  return (
    <div class="why">
      <p>
        <strong>
          <Prose of={chosen === right ? 'Right.' : `${right}.`} />
        </strong>{' '}
        <Prose of={here} />
      </p>
      {on4 !== undefined && (
        <p>
          <strong>{is4 ? 'On 3.10:' : 'On 4:'}</strong> <Prose of={is4 ? why : on4.why} />
        </p>
      )}
      <p class="muted">
        {rules.length === 1 ? 'Rule' : 'Rules'} <a href="../internals/rules">{rules.join(', ')}</a>
      </p>
    </div>
  );
}

/** All lessons by subject. */
export function LessonList() {
  return (
    <nav class="card lesson-list" aria-label="Lessons">
      {chapters.map(({ title, lessons: some }) => (
        <details key={title} open={lesson.value === undefined || some.includes(lesson.value)}>
          <summary>
            {title} <small>{some.length}</small>
          </summary>
          <ol>
            {some.map(({ id, title: name }) => (
              <li key={id}>
                <a href={`#${id}`} aria-current={lesson.value?.id === id ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ol>
        </details>
      ))}
    </nav>
  );
}

/** The answers in an order that is the same each time, and tells nothing. */
function shuffled({ id, answers }: Lesson): readonly string[] {
  const rank = (text: string): number =>
    [...(id + text)].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973, 7);
  return [...answers].sort((one, other) => rank(one) - rank(other));
}
