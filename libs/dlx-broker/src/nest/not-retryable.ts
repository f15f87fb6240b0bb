import { BadRequestException } from '@nestjs/common';
import { isNotRetryable, type ErrorTests } from '../retry/index.js';

/** Errors that no further attempt will cure: a policy that says nothing else parks these at once. */
export const notRetryable: ErrorTests = [BadRequestException, isNotRetryable];
