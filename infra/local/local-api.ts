// /_local/*: operations that only the local service has. They move the clock, run work until idle,
// grant plans, and report request units.
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import * as z from "zod";
import { type ConsumedUnits, unitsByOperation } from "../../shared/adapters/dynamodb/capacity.ts";
import { now } from "../../shared/clock.ts";
import { grantPlan, OperatorGrant } from "../../shared/domain/billing/operator-grants.ts";
import { invalid, Problem } from "../../shared/errors.ts";
import {
  createReply,
  jsonResponse,
  errorResponse as responsesErrorResponse,
} from "../../shared/http/responses.ts";
import { validate } from "../../shared/http/validate.ts";
import type { GatewayRequest } from "./gateway.ts";
import { errorResponse } from "./gateway.ts";
import {
  advanceClock,
  defaultWaitSeconds,
  type LocalRuntime,
  runUntilIdle,
} from "./run-until-idle.ts";

type LambdaResponse = APIGatewayProxyStructuredResultV2;
interface LocalOperation {
  input?: z.ZodType;
  /** Returns `data` of the response. */
  run(runtime: LocalRuntime, input: never): unknown;
}

/** The returned function gives undefined for other paths. */
export function createLocalApi(
  runtime: LocalRuntime,
): (request: GatewayRequest) => Promise<LambdaResponse | undefined> {
  // Operations run one at a time, because two that move the clock would affect each other's result.
  let previous: Promise<unknown> = Promise.resolve();
  return async ({ method, path, body }) => {
    const methods = operations[path];
    if (!methods) return undefined;
    const found = methods[method];
    if (!found)
      return errorResponse(405, "method_not_allowed", `This path does not support ${method}`);
    const turn = previous.then(() => runOperation(runtime, found, body));
    previous = turn.catch(() => {});
    return turn;
  };
}

async function runOperation(
  runtime: LocalRuntime,
  { input, run }: LocalOperation,
  body: Buffer,
): Promise<LambdaResponse> {
  const extra = createReply(randomUUID());
  try {
    return jsonResponse(
      200,
      await run(runtime, validate(input, parseJson(body.toString("utf8") || "{}")) as never),
      extra,
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return responsesErrorResponse(error, extra.headers["x-request-id"]!, extra);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The body is not valid JSON", { code: "invalid_json" });
  }
}

const tenYears = 10 * 366 * 24 * 3600;
const AdvanceInput = z.object({ advanceSeconds: z.number().min(0).max(tenYears) });
const IdleInput = z.object({
  waitSeconds: z.number().min(0).max(900).default(defaultWaitSeconds),
  maxWaitedSeconds: z.number().min(0).max(tenYears).default(3600),
  limitSeconds: z.number().min(0).max(600).default(60),
});

const withInput = <T extends z.ZodType>(
  input: T,
  run: (runtime: LocalRuntime, input: z.output<T>) => unknown,
): LocalOperation => ({
  input,
  run,
});

const operations: Record<string, Record<string, LocalOperation>> = {
  "/_local/clock": {
    GET: { run: readClock },
    POST: withInput(AdvanceInput, async (runtime, { advanceSeconds }) => {
      await advanceClock(runtime, advanceSeconds);
      return readClock(runtime);
    }),
  },
  "/_local/settle": { POST: withInput(IdleInput, runUntilIdle) },
  "/_local/plan": { POST: withInput(OperatorGrant, (_, grant) => grantPlan(grant)) },
  "/_local/usage": {
    GET: { run: readTableUsage },
    POST: {
      run: () => {
        for (const operation of Object.keys(unitsByOperation)) delete unitsByOperation[operation];
        return readTableUsage();
      },
    },
  },
};

function readClock({ time }: LocalRuntime) {
  return { now: now().toISOString(), offsetSeconds: time.offsetSeconds() };
}

/** DynamoDB request units and calls since the start or the last reset. */
function readTableUsage() {
  const total: ConsumedUnits = { readUnits: 0, writeUnits: 0, calls: 0 };
  for (const { readUnits, writeUnits, calls } of Object.values(unitsByOperation)) {
    total.readUnits += readUnits;
    total.writeUnits += writeUnits;
    total.calls += calls;
  }
  return { operations: unitsByOperation, total };
}
