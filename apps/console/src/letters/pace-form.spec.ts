import { expect, it } from 'vitest';
import { defaultPace, paceOf } from './pace-form';

it('reads the pace of a redrive', () => {
  expect(paceOf(defaultPace)).toEqual({ rate: 50, circuit: { percent: 50, at_least: 20 } });
  expect(paceOf({ rate: '0', limit: '10', hasCircuit: false, percent: '', atLeast: '' })).toEqual({
    rate: 0,
    limit: 10,
    circuit: false,
  });
  expect(paceOf({ rate: '-1', limit: '0', hasCircuit: true, percent: '500', atLeast: '0' })).toEqual({
    circuit: { percent: 100, at_least: 1 },
  });
});
