import { BadRequestException } from '@nestjs/common';
import { ContractError } from '../features/contract/contract-error.js';
import { type ErrorTests, isNotRetryable } from '../retry/index.js';

/** Errors that another attempt cannot cure. A policy without `neverRetry` parks them at once. */
export const notRetryable: ErrorTests = [BadRequestException, isNotRetryable];

/** Errors that another attempt cannot cure, whatever a policy says. */
export const unretryable: ErrorTests = ContractError;
