// Prints one plain closing line, `N passed, N failed, N skipped`, from vitest's JSON report, and fails when the report
// does not speak of a green run: `node scripts/closing-line.mjs reports/vitest.json`.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const cases = report.testResults.flatMap((file) => file.assertionResults);
// A file that cannot be loaded, or whose preparation fails, has no failed case and is a failure all the same.
const broken = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.every((one) => one.status !== 'failed'),
);

const count = (status) => cases.filter((one) => one.status === status).length;
const passed = count('passed');
const failed = count('failed') + broken.length;
const skipped = cases.length - passed - count('failed');

if (process.env['AMQP_URL_4'] === undefined) console.log('not compared with RabbitMQ 4.3: AMQP_URL_4 names none');
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0 || passed === 0 || !report.success) process.exitCode = 1;
