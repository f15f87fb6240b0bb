import { beforeEach } from 'vitest';
import { missing } from './places.js';

if (missing !== undefined) console.warn(`SKIPPED: applications on RabbitMQ: ${missing}`);

beforeEach(({ skip }) => skip(missing !== undefined, missing));
