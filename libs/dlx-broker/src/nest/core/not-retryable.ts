import { BadRequestException } from '@nestjs/common';
import { type ErrorTests, isNotRetryable } from '../retry/index.js';

/** Errors that another attempt cannot cure. A policy without `neverRetry` parks them at once. */
export const notRetryable: ErrorTests = [BadRequestException, isNotRetryable];
