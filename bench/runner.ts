import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Progress } from './progress.js';
import type { Result } from './results.js';
import type { Measurement, Workload } from './workload.js';

const execute = promisify(execFile);
const child = fileURLToPath(new URL('child.js', import.meta.url));

/** One run of one peer, in a process of its own. @throws what that process says when it fails */
async function measure(workload: Workload, peer: string): Promise<Measurement> {
  const { stdout } = await execute(process.execPath, ['--expose-gc', child, workload.id, peer], {
    maxBuffer: 64 * 2 ** 20,
  });
  // A server or library may say something before.
  return JSON.parse(stdout.trim().split('\n').at(-1) as string) as Measurement;
}

/** The peers in turn, A B A B, so that a machine that slows down slows them all down. A peer that fails has no further run. */
export async function run(
  workload: Workload,
  peers: readonly string[],
  runs: number,
  progress: Progress,
): Promise<readonly Result[]> {
  const measured = new Map(peers.map((peer) => [peer, [] as Measurement[]]));
  const failed = new Map<string, string>();
  for (let turn = 1; turn <= runs; turn++) {
    for (const peer of peers) {
      progress.step(`${workload.id}, ${peer}, run ${turn} of ${runs}`);
      if (failed.has(peer)) continue;
      try {
        measured.get(peer)?.push(await measure(workload, peer));
      } catch (error) {
        failed.set(peer, reasonOf(error as Error & { stderr?: string }));
      }
    }
  }
  return peers.map((peer) => {
    const reason = failed.get(peer);
    return { workload, peer, measured: measured.get(peer) ?? [], ...(reason !== undefined && { failed: reason }) };
  });
}

/** The line of an error that says what is wrong. */
function reasonOf({ message, stderr = '' }: Error & { readonly stderr?: string }): string {
  const lines = `${stderr}\n${message}`.split('\n').map((line) => line.trim());
  return (lines.find((line) => /^(\w*Error|error):? /.test(line)) ?? lines.find((line) => line !== '') ?? '').slice(
    0,
    200,
  );
}
