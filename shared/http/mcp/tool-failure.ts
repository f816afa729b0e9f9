// Failures of tools: what went wrong and what the agent can do about it.
import { errorMeanings } from "../../error-codes.ts";

interface FailureOptions {
  status?: number;
  details?: unknown;
  requestId?: string | undefined;
  /** Defaults to the remedy of the code. */
  remedy?: string;
}

/** A tool did nothing, or not everything. The agent gets code, message and remedy. */
export class ToolFailure extends Error {
  readonly code: string;
  readonly options: FailureOptions;

  constructor(code: string, message: string, options: FailureOptions = {}) {
    super(message);
    this.code = code;
    this.options = options;
  }

  toJson(): object {
    const { status, details, requestId, remedy = remedyOf(this.code) } = this.options;
    return { error: this.message, code: this.code, status, remedy, details, requestId };
  }
}

const remedyOf = (code: string): string | undefined =>
  code in errorMeanings ? errorMeanings[code as keyof typeof errorMeanings].remedy : undefined;
