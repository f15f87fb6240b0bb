import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Heap and buffers of this process in use after a garbage collection, in bytes. */
export function memoryInUse(): number {
  for (let turns = 0; turns < 3; turns++) collect(); // buffers are given back a turn later
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
