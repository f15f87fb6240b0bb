import { createRequire } from 'node:module';
import { ApplicationConfig } from '@nestjs/core';
import { ClientProxy } from '@nestjs/microservices';
import { isObservable } from 'rxjs';
import { DlxClient, DlxContext } from 'dlx-broker';
import { createBroker, EmbeddedBackend } from 'dlx-broker/engine';
import { expect, expectTypeOf, it } from 'vitest';

const here = createRequire(process.env['NEST_PACKAGES'] ?? import.meta.url);

it('the packages of this folder are of Nest 11', () => {
  for (const name of ['common', 'core', 'microservices', 'platform-express', 'testing']) {
    expect(here(`@nestjs/${name}/package.json`)).toMatchObject({ version: expect.stringMatching(/^11\./) });
  }
});

it('specs and the sources of the library see these packages and no others', () => {
  const { BaseRpcContext, ClientProxy: ofFolder } = here('@nestjs/microservices') as Record<string, unknown>;
  expect(ClientProxy).toBe(ofFolder);
  expect(Object.getPrototypeOf(DlxClient)).toBe(ofFolder);
  expect(Object.getPrototypeOf(DlxContext)).toBe(BaseRpcContext);
  expect(ApplicationConfig).toBe((here('@nestjs/core') as Record<string, unknown>)['ApplicationConfig']);
  expect(new ApplicationConfig()).not.toHaveProperty('registerPreRequestHook');
  // Compiled by tsconfig.json here.
  expectTypeOf<ApplicationConfig>().not.toHaveProperty('registerPreRequestHook');
});

it('RxJS as well', () => {
  const { Observable } = here('rxjs') as typeof import('rxjs');
  const answer = new DlxClient({ backend: new EmbeddedBackend(createBroker()) }).emit('a', 1);
  expect(answer).toBeInstanceOf(Observable);
  expect(isObservable(answer)).toBe(true);
});
