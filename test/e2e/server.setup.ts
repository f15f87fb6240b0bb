import { beforeEach } from 'vitest';
import { realServerIsMissing } from '../backends/real-vhost.js';
import { isRabbitMq } from './places.js';

const reason = isRabbitMq ? await realServerIsMissing() : undefined;
if (reason !== undefined) console.warn(`SKIPPED: applications on RabbitMQ: ${reason}`);

beforeEach(({ skip }) => skip(reason !== undefined, reason));
