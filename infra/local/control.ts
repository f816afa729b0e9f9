// /_local/*: what only a service on one machine has. Time can be moved, work run dry, plans given, and the table's costs read.
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import * as z from "zod";
import { now } from "../../shared/clock.ts";
import { Gift, give } from "../../shared/domain/billing/gifts.ts";
import { type Usage, usageByOperation } from "../../shared/doors/meter.ts";
import { invalid, Problem } from "../../shared/errors.ts";
import { data, newExtra, refusal } from "../../shared/http/reply.ts";
import { checked } from "../../shared/http/validate.ts";
import type { Asked } from "./gateway.ts";
import { refuse } from "./gateway.ts";
import { pass, settle, shortSeconds, type Works } from "./settle.ts";

type Result = APIGatewayProxyStructuredResultV2;
/** Answers what `data` is to be. */
interface Control {
  input?: z.ZodType;
  act(works: Works, input: never): unknown;
}

/** undefined when the path is none of these. */
export function control(works: Works): (asked: Asked) => Promise<Result | undefined> {
  // One at a time: two that move the clock at once would each see the other's work.
  let last: Promise<unknown> = Promise.resolve();
  return async ({ method, path, body }) => {
    const methods = controls[path];
    if (!methods) return undefined;
    const found = methods[method];
    if (!found) return refuse(405, "method_not_allowed", `${method} is not possible here`);
    const turn = last.then(() => answer(works, found, body));
    last = turn.catch(() => {});
    return turn;
  };
}

async function answer(works: Works, { input, act }: Control, body: Buffer): Promise<Result> {
  const extra = newExtra(randomUUID());
  try {
    return data(200, await act(works, checked(input, json(body.toString("utf8") || "{}")) as never), extra);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return refusal(error, extra.headers["x-request-id"]!, extra);
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The body is not valid JSON", { code: "invalid_json" });
  }
}

const tenYears = 10 * 366 * 24 * 3600;
const Advance = z.object({ advanceSeconds: z.number().min(0).max(tenYears) });
const Settle = z.object({
  waitSeconds: z.number().min(0).max(900).default(shortSeconds),
  maxWaitedSeconds: z.number().min(0).max(tenYears).default(3600),
  limitSeconds: z.number().min(0).max(600).default(60),
});

const of = <T extends z.ZodType>(input: T, act: (works: Works, input: z.output<T>) => unknown): Control => ({ input, act });

const controls: Record<string, Record<string, Control>> = {
  "/_local/clock": {
    GET: { act: timeOf },
    POST: of(Advance, async (works, { advanceSeconds }) => {
      await pass(works, advanceSeconds);
      return timeOf(works);
    }),
  },
  "/_local/settle": { POST: of(Settle, settle) },
  "/_local/plan": { POST: of(Gift, (_, gift) => give(gift)) },
  "/_local/usage": {
    GET: { act: usage },
    POST: {
      act: () => {
        for (const operation of Object.keys(usageByOperation)) delete usageByOperation[operation];
        return usage();
      },
    },
  },
};

function timeOf({ time }: Works) {
  return { now: now().toISOString(), offsetSeconds: time.offsetSeconds() };
}

/** DynamoDB request units and calls since the start, or since they were last reset. */
function usage() {
  const total: Usage = { readUnits: 0, writeUnits: 0, calls: 0 };
  for (const { readUnits, writeUnits, calls } of Object.values(usageByOperation)) {
    total.readUnits += readUnits;
    total.writeUnits += writeUnits;
    total.calls += calls;
  }
  return { operations: usageByOperation, total };
}
