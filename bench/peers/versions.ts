import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Need } from '../workload.js';
import { programs } from './programs.js';

const packages = ['dlx-broker', 'smqp', 'bullmq', 'amqplib', '@nestjs/core'];

/** Versions by the names of programs and packages; undefined for a program that is not there. */
export async function versionsOf(): Promise<ReadonlyMap<string, string | undefined>> {
  const versions = new Map<string, string | undefined>();
  for (const name of packages) versions.set(name, packageVersion(name));
  for (const need of Object.keys(programs) as Need[]) versions.set(need, await programs[need].version());
  return versions;
}

function packageVersion(name: string): string {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const path of paths) {
    try {
      return (JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')) as { version: string }).version;
    } catch {
      // It is in another one of the folders.
    }
  }
  return 'of an unknown version';
}
