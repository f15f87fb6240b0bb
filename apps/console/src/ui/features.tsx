import type { Feature } from '../api/types';
import { visible } from './parts';

/** The letters of a queue, as in RabbitMQ's list. The tooltip has the value; a screen reader reads it in place of the letters. */
export function Features({ of }: { of: readonly Feature[] }) {
  return (
    <span class="features">
      {of.map(({ letter, tip }) => (
        <span key={letter} class={letter === 'DLX' || letter === 'DLK' ? 'tag tag-strong' : 'tag'} title={visible(tip)}>
          <span aria-hidden="true">{visible(letter)}</span>
          <span class="visually-hidden">{visible(tip)}; </span>
        </span>
      ))}
    </span>
  );
}
