import { ApplicationConfig } from '@nestjs/core';
import { preRequestHooksOf } from '../../libs/dlx-broker/src/nest/handlers/nest-versions.js';

/** True where test/nest-11 runs these cases. */
export const isNest11 = preRequestHooksOf(new ApplicationConfig()) === undefined;

/** False where Nest may finish an instance for a message before those that were asked for before it: on Nest 11 and the first of Nest 12. */
export const makesInstancesInOrder = !isNest11 && process.env['NEST_PACKAGES'] === undefined;
