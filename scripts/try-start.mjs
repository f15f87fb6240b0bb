// Runs `npm start` as the README says, with the build before it. Waits until the sample has printed its last line, opens the
// console at the printed address, presses Ctrl+C, and fails unless all of that works.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

// A process group of its own, because Ctrl+C in a terminal reaches npm and the sample alike.
const npm = spawn('npm', ['start'], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(npm, 'exit');
const limit = setTimeout(() => fail('the sample did not come to its last line within a minute'), 60_000);

let text = '';
for await (const part of npm.stdout.setEncoding('utf8')) {
  process.stdout.write(part);
  text += part;
  if (text.includes('Ctrl+C ends the sample.')) break;
}
clearTimeout(limit);
const [url] = /http:\/\/\S+/.exec(text) ?? fail('the sample printed no address of a console');
const page = await fetch(url).catch((error) => fail(`no console at ${url}: ${error.message}`));
if (!page.ok || !(await page.text()).includes('<html')) fail(`GET ${url} answers ${page.status} and no page`);
process.kill(-npm.pid, 'SIGINT');
const [code, signal] = await ended;
// 130: npm was ended by SIGINT.
if (signal !== 'SIGINT' && code !== 130 && code !== 0) fail(`the sample ended with ${signal ?? code} after Ctrl+C`);
console.log(`${url} answered, and Ctrl+C ended the sample`);

function fail(text) {
  console.error(`npm start: ${text}`);
  try {
    process.kill(-npm.pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
  process.exit(1);
}
