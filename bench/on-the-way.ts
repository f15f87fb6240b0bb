import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './amqp/crowd.js';
import { rateOfAll, type Result, until } from './amqp/measure.js';
import { startOurs } from './amqp/servers.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/on-the-way.js [CONNECTIONS:MESSAGES ...] [RUNS]

Processor time of 'dlx-broker serve' for a message of 16 bytes, with so many connections and so many messages of each on their way. A fixed number of
messages is measured after a warm-up, because slow runs would otherwise measure code that is not compiled yet.

  CONNECTIONS:MESSAGES  scenes (default: 1000:250 1:250000 1:2000)
  RUNS                  of each scene (default: 4)`);

const words = process.argv.slice(2);
const given = words.filter((word) => word.includes(':'));
const scenes = given.length > 0 ? given : ['1000:250', '1:250000', '1:2000'];
const runs = Number(words.find((word) => !word.includes(':')) ?? 4);
const [warm, measured] = [600_000, 1_500_000];

async function run(connections: number, window: number): Promise<Result> {
  const { target, close } = await startOurs([], false);
  const crowd = new Crowd(connections);
  await crowd.open(target);
  let isOver = false;
  for (const member of crowd.members) {
    const fill = (): void => {
      const room = window - (member.sent - member.arrived);
      if (!isOver && room * 4 >= window) member.publish(room, 0);
    };
    member.onArrived = fill;
    fill();
  }
  const arrive = async (count: number): Promise<void> => {
    while (crowd.arrived < count) await sleep(5);
  };
  await arrive(warm);
  const before = crowd.arrived;
  const result = await rateOfAll(target, async () => {
    await arrive(before + measured);
    return crowd.arrived - before;
  });
  isOver = true;
  await until(() => crowd.arrived >= crowd.sent);
  await crowd.close();
  await close();
  return result;
}

for (let index = 0; index < runs; index++) {
  for (const scene of scenes) {
    const [connections = 1, window = 1] = scene.split(':').map(Number);
    const { serverCpu, value } = await run(connections, window);
    console.log(`${scene}: ${serverCpu?.toFixed(2)} us, ${Math.round(value)} a second`);
  }
}
