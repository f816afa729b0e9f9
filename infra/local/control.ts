// /_local/*: what only a service on one machine has. Time can be moved, work run dry, and the table's costs read.
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import * as z from "zod";
import { now } from "../../shared/clock.ts";
import { type Usage, usageByOperation } from "../../shared/doors/meter.ts";
import type { Asked } from "./gateway.ts";
import { refuse } from "./gateway.ts";
import { pass, settle, type Works } from "./settle.ts";

type Result = APIGatewayProxyStructuredResultV2;
type Control = (works: Works, body: unknown) => Promise<Result>;

/** undefined when the path is none of these. */
export function control(works: Works): (asked: Asked) => Promise<Result | undefined> {
  // One at a time: two that move the clock at once would each see the other's work.
  let last: Promise<unknown> = Promise.resolve();
  return async ({ method, path, body }) => {
    const methods = controls[path];
    if (!methods) return undefined;
    const found = methods[method];
    if (!found) return refuse(405, "method_not_allowed", `${method} is not possible here`);
    const text = body.toString("utf8");
    const input = json(text || "{}");
    if (!input) return refuse(400, "invalid_json", "The body is not valid JSON");
    const result = last.then(() => found(works, input.value));
    last = result.catch(() => {});
    return result;
  };
}

function json(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const tenYears = 10 * 366 * 24 * 3600;
const Advance = z.object({ advanceSeconds: z.number().min(0).max(tenYears) });
const Settle = z.object({
  waitSeconds: z.number().min(0).max(900).default(60),
  maxWaitedSeconds: z.number().min(0).max(tenYears).default(3600),
  limitSeconds: z.number().min(0).max(600).default(60),
});

const controls: Record<string, Record<string, Control>> = {
  "/_local/clock": {
    GET: async (works) => data(timeOf(works)),
    POST: async (works, body) => {
      const { data: input, error } = Advance.safeParse(body);
      if (!input) return invalid(error);
      await pass(works, input.advanceSeconds);
      return data(timeOf(works));
    },
  },
  "/_local/settle": {
    POST: async (works, body) => {
      const { data: input, error } = Settle.safeParse(body);
      return input ? data(await settle(works, input)) : invalid(error);
    },
  },
  "/_local/usage": {
    GET: async () => data(usage()),
    POST: async () => {
      for (const operation of Object.keys(usageByOperation)) delete usageByOperation[operation];
      return data(usage());
    },
  },
};

const timeOf = ({ time }: Works) => ({ now: now().toISOString(), offsetSeconds: time.offsetSeconds() });

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

const data = (value: unknown): Result => ({
  statusCode: 200,
  headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  body: JSON.stringify({ data: value }),
});

const invalid = (error: z.ZodError): Result => {
  const [issue] = error.issues;
  return refuse(400, "validation_failed", `${issue?.path.join(".") || "body"}: ${issue?.message}`);
};
