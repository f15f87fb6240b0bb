import { ApplicationConfig } from '@nestjs/core';
import { preRequestHooksOf } from '../../libs/dlx-broker/src/nest/nest-versions.js';

/** True where test/nest-11 runs these cases. */
export const isNest11 = preRequestHooksOf(new ApplicationConfig()) === undefined;
