import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The contract suite and random programs, on the engine, over AMQP, and on a RabbitMQ if there is one. */
const contract = ['test/contract/**/*.spec.ts'];

/** They speak to other processes, and wait for conditions and never for moments: two files at a time do not disturb each other. */
const besideOthers = [
  'test/amqp/**/*.spec.ts',
  'test/backends/**/*.spec.ts',
  'test/ctl/**/*.spec.ts',
  'test/durability/processes/**/*.spec.ts',
  'test/management/**/*.spec.ts',
  'test/migrations/**/*.spec.ts',
  'test/security/**/*.spec.ts',
];

/** They measure time or processor time, or would miss their moments beside others: one file at a time. */
const realTime = [
  'test/fuzz/**/*.spec.ts',
  'test/amqp/{connection-fuzz,frame-fuzz,liveliness,slow-clients}.spec.ts',
  'test/management/{everywhere,many-queues,policy-effect}.spec.ts',
  'test/security/{doors,logins,silent-amqp-clients,silent-clients,unread-replies}.spec.ts',
];

/** The console in a browser. */
const inBrowser = ['test/console/**/*.spec.ts'];

/** Searches for what crashes, power cuts and cut connections cost, with the bugs that are planted to see that they find any. */
const crashes = [
  'test/durability/{bit-rot,cuts-in-slices,edit-queue,fault-at-each-call,ledger,notice-cuts,power-cuts,with-and-without-rows}.spec.ts',
  'test/properties/{crash,crash-on-disk,delayed-crash,redrive-crash}.spec.ts',
  'test/simulation/**/*.spec.ts',
];

/** They replace modules of Node or measure the heap: each needs a process of its own. */
const alone = [
  'libs/dlx-broker/src/store/log/write-through.spec.ts',
  'libs/dlx-broker/src/nest/streams/backpressure.spec.ts',
  'test/durability/soak.spec.ts',
  'test/e2e/heap.spec.ts',
];

/** Whole applications that need no virtual time: the same cases run on the embedded broker and on both servers. */
const onAllBrokers = [
  'test/acceptance/readme.spec.ts',
  'test/e2e/all-ends.spec.ts',
  'test/e2e/all-features.spec.ts',
  'test/e2e/async-context.spec.ts',
  'test/e2e/code-of-others.spec.ts',
  'test/e2e/contracts.spec.ts',
  'test/e2e/death-history.spec.ts',
  'test/e2e/differences.spec.ts',
  'test/e2e/edits.spec.ts',
  'test/e2e/error-history.spec.ts',
  'test/e2e/failure-log.spec.ts',
  'test/e2e/handlers.spec.ts',
  'test/e2e/letters.spec.ts',
  'test/e2e/lifecycle.spec.ts',
  'test/e2e/notices.spec.ts',
  'test/e2e/outbox-events.spec.ts',
  'test/e2e/pause.spec.ts',
  'test/e2e/processes.spec.ts',
  'test/e2e/request-timeout.spec.ts',
  'test/e2e/samples.spec.ts',
  'test/e2e/settlement.spec.ts',
  'test/e2e/tracing.spec.ts',
  'test/e2e/transport.spec.ts',
];

/** The RabbitMQ of specs that know one: 4.3 in place of 3.10. */
const on4 = {
  AMQP_URL: process.env['AMQP_URL_4'] ?? '',
  RABBITMQ_MANAGEMENT_URL: process.env['RABBITMQ_4_MANAGEMENT_URL'] ?? '',
  DEFAULT_QUEUE_TYPE: 'quorum',
};

/** Where `onAllBrokers` runs besides the embedded broker. */
const places = [
  { name: 'on serve', place: 'serve', env: {} },
  { name: 'on RabbitMQ', place: 'RabbitMQ', env: {} },
  { name: 'on RabbitMQ 4', place: 'RabbitMQ', env: on4 },
] as const;

/** Vitest leaves one processor free, which is half of a small machine. */
const maxWorkers = availableParallelism();

/** In CI a case that fails once runs again, and the report says so: a machine that others use must not decide. */
const retry = process.env['CI'] === undefined ? 0 : 1;

export default defineConfig({
  // The aliases of tsconfig.json: tests meet the library's sources, never an old build.
  resolve: { tsconfigPaths: true },
  // Nest's decorators and its injection by type, in libs and in specs.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    // Tests do not sleep, so a test that takes longer than this hangs, also on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A condition that a machine under load takes a second for is no failure. It ends before testTimeout, with a message.
    expect: { poll: { timeout: 8_000 } },
    // An unhandled rejection is a failure, not a line in the log.
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'virtual time',
          include: ['libs/**/*.spec.ts', 'test/**/*.spec.ts', 'apps/**/*.spec.ts'],
          exclude: [
            '**/node_modules/**',
            '**/dist/**',
            'test/nest-11/**',
            // Applications of their own, which test/consumers/nightly.mjs installs and runs.
            'test/consumers/**',
            ...contract,
            ...besideOthers,
            ...realTime,
            ...inBrowser,
            ...crashes,
            ...alone,
          ],
          // Files share a process: loading Nest and the library for each of them took half of the time.
          isolate: false,
          maxWorkers,
          retry,
        },
      },
      { extends: true, test: { name: 'crashes', include: crashes, isolate: false, maxWorkers, retry } },
      { extends: true, test: { name: 'virtual time, alone', include: alone, maxWorkers, retry } },
      // One file at a time, because its cases on a RabbitMQ take place in real time.
      {
        extends: true,
        test: { name: 'contract', include: contract, fileParallelism: false, retry: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        // Afterwards, one file at a time. What other processes and the machine do to a case it may survive twice.
        test: {
          name: 'real time',
          include: realTime,
          fileParallelism: false,
          retry: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'beside others',
          include: besideOthers,
          exclude: realTime,
          retry: 2,
          maxWorkers,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'in a browser',
          include: inBrowser,
          globalSetup: ['test/console/build.setup.ts'],
          testTimeout: 30_000,
          retry: 2,
          maxWorkers,
          sequence: { groupOrder: 3 },
        },
      },
      // On a 4.3 whose virtual hosts make quorum queues by default, as those of many clusters do. Without one the cases are skipped.
      {
        extends: true,
        test: {
          name: 'backends on RabbitMQ 4',
          include: ['test/backends/**/*.spec.ts'],
          env: on4,
          retry: 2,
          maxWorkers,
          sequence: { groupOrder: 3 },
        },
      },
      ...places.map(({ name, place, env }) => ({
        extends: true as const,
        test: {
          name,
          include: onAllBrokers,
          provide: { place },
          env,
          setupFiles: ['test/e2e/server.setup.ts'],
          // Each file has its own hooks of places.ts, which end the brokers that it opened.
          retry: 2,
          maxWorkers,
          sequence: { groupOrder: 3 },
        },
      })),
    ],
  },
});
