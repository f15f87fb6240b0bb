import { expect, it } from 'vitest';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import type { FrameWriter } from '../wire/index.js';
import { Output, type Transport } from './transport.js';

function arrange() {
  const turns: (() => void)[] = [];
  const runtime = { clock: new ManualClock(), later: (act: () => void) => void turns.push(act) };
  const sent: number[] = [];
  const writer = { pending: 0, flush: () => void sent.push(writer.pending, (writer.pending = 0)) };
  const transport = { waiting: 0, flush: () => undefined } as unknown as Transport;
  const output = new Output(transport, runtime, 1, { sent: () => undefined, drained: () => undefined });
  output.writer = writer as unknown as FrameWriter;
  const write = (bytes: number): void => {
    writer.pending += bytes;
    output.want(); // as a writer does for the first bytes
  };
  const turn = (): void => turns.splice(0).forEach((act) => act());
  return { output, turns, turn, write, sent: () => sent.filter((bytes) => bytes > 0) };
}

it('sends what is written at the end of a turn with that turn, and asks for no further one', () => {
  const { output, turns, turn, write, sent } = arrange();
  output.atEndOfTurn(() => write(3));
  turn();
  expect([sent(), turns]).toEqual([[3], []]);
});

it('has a turn for what is asked for at the end of a turn, and after an act that fails', () => {
  const { output, turn, write, sent } = arrange();
  output.atEndOfTurn(() => output.atEndOfTurn(() => write(5)));
  turn();
  turn();
  expect(sent()).toEqual([5]);
  output.atEndOfTurn(() => {
    throw new Error('it fails');
  });
  expect(turn).toThrow('it fails');
  write(7);
  turn();
  expect(sent()).toEqual([5, 7]);
});
