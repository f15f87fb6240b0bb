import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { load } from '../page.js';
import { Progress } from '../progress.js';
import { command, positiveNumber, UsageError, wholeNumber } from '../usage.js';
import { select } from '../workload.js';
import { cases } from './cases.js';
import { Series } from './series.js';
import { head } from './table.js';

const clients = [...new Set(cases.map(({ client }) => client))];

const help = `npm run amqp -w bench -- [NAME ...] [options]

Measures 'dlx-broker serve' beside other servers over AMQP, in turn. RabbitMQ takes part if AMQP_URL and RABBITMQ_MANAGEMENT_URL name one. With an even
number of runs the median is the upper of the two.

  --runs N      runs of each server (default: 3)
  --seconds N   how long a run measures (default: 3)
  --warm N      seconds of load before that (default: 1.5)
  --client C    only programs with this client: ${clients.join(', ')}
  --aged        one dlx-broker, measured when it is new and after --minutes of mixed load, with the lean client
  --minutes N   of the mixed load (default: 10)
  --help        shows this text

Workloads (a name selects all that begin with it): ${[...new Set(cases.map(({ id }) => id))].join('; ')}`;

await command('npm run amqp -w bench', async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
      warm: { type: 'string', default: '1.5' },
      client: { type: 'string' },
      aged: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(help);
  const { client, aged } = values;
  if (client !== undefined && !clients.includes(client)) {
    throw new UsageError(`there is no client '${client}'; there are ${clients.join(', ')}`);
  }
  const pace = { warm: positiveNumber('--warm', values.warm), measured: positiveNumber('--seconds', values.seconds) };
  const runs = wholeNumber('--runs', values.runs, 1);
  const minutes = positiveNumber('--minutes', values.minutes);
  const chosen = select(cases, positionals).filter((one) => client === undefined || one.client === client);
  const ageable = chosen.filter((one) => one.client === 'lean' && one.start === undefined && one.rivals === undefined);
  const measured = aged ? ageable : chosen;
  const series = new Series(pace, runs, new Progress(measured.length * runs * (aged ? 2 : 1)));
  const before = load();
  const rows = aged ? await series.aging(measured, minutes) : await series.all(measured);
  series.progress.end();
  const asked = process.argv.slice(2);
  const lines = [
    `\`npm run amqp -w bench -- ${asked.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')}\`. Load of the machine at the ` +
      `start and at the end: ${before} and ${load()}.`,
    '',
    ...head(availableParallelism(), runs, pace),
    ...rows,
  ];
  console.log(lines.join('\n'));
});
