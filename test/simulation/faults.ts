import type { Wire } from './wire.js';
import type { Fault } from './plan.js';
import { harmless } from './plan.js';
import type { Simulation } from './simulation.js';

/** Milliseconds in which a replica or a server that was ended may still be noticed: it is added to the length of a fault. */
type Apply<Kind extends Fault['kind']> = (
  simulation: Simulation,
  fault: Extract<Fault, { readonly kind: Kind }>,
) => void;

/** What each kind of fault does. */
const table: { readonly [Kind in Fault['kind']]: Apply<Kind> } = {
  cut: (simulation, { up, frames, bytes }) =>
    onWire(simulation, (wire) => (up ? wire.up : wire.down).cutAfter(frames, bytes)),
  swallow: (simulation, { up }) => onWire(simulation, (wire) => void ((up ? wire.up : wire.down).isSwallowing = true)),
  drip: (simulation, { up, bytes, pause }) =>
    onWire(simulation, (wire) => void ((up ? wire.up : wire.down).drip = { bytes, pause })),
  stall: (simulation, { up, length }) => onWire(simulation, (wire) => (up ? wire.up : wire.down).stall(length)),
  alarm: ({ server, world }, { length }) => {
    server.isShort = true;
    const end = (): void => void (server.isShort = false);
    world.clock.wakeAt(world.clock.now() + length, end);
  },
  server: ({ server, world, oracle }, { how, duringWork, vanishes, length }) => {
    if (!server.isUp) return;
    const end = (): void => {
      oracle.kills++;
      oracle.lastFault = world.time;
      server.kill(how, vanishes);
      const start = (): void => void server.start();
      world.clock.wakeAt(world.clock.now() + length, start);
    };
    if (duringWork) server.duringWork(end);
    else end();
  },
  replica: ({ replicas, random }, { vanishes, length }) => {
    const replica = random.pick(replicas);
    if (replica.isRunning) replica.kill(vanishes, length);
  },
  stop: ({ replicas, random }, { length }) => {
    const replica = random.pick(replicas);
    if (replica.isReady) void replica.stop(length);
  },
};

/** A stall of so many milliseconds may end its connection: the shortest heartbeat is as long. */
const longStall = 2_000;

/** True if the fault may end a connection. */
const mayEnd = (fault: Fault): boolean =>
  !harmless.includes(fault.kind) || (fault.kind === 'stall' && fault.length >= longStall);

/** Makes something go wrong now. */
export function apply(simulation: Simulation, fault: Fault): void {
  const { world, oracle } = simulation;
  world.note(`fault ${JSON.stringify(fault)}`);
  if (mayEnd(fault)) oracle.lastFault = world.time;
  if (mayEnd(fault) && fault.kind !== 'stop') oracle.isDisturbed = true;
  (table[fault.kind] as Apply<Fault['kind']>)(simulation, fault as never);
}

function onWire({ network, random }: Simulation, act: (wire: Wire) => void): void {
  const { wires } = network;
  if (wires.length > 0) act(random.pick(wires));
}
