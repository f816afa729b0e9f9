// What differs when a route speaks the API of another service: where the key is, and how errors
// look. Handlers return the body of the other API; errors are translated after everything else, so
// limits, idempotency and logs are those of all routes.
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type * as z from "zod";
import { isObject, parseJson } from "../../kernel/json.ts";

type LambdaResponse = APIGatewayProxyStructuredResultV2;

export interface WireError {
  status: number;
  /** Our error code, such as `rate_limited`. */
  code: string;
  /** One sentence, which names the field. */
  message: string;
  /** The dotted name of the first wrong field. */
  field: string | undefined;
}

export interface WireFormat {
  /** Name of the service. */
  name: string;
  /** Start of the paths, without `/api/v1`. */
  path: string;
  /** The header that holds the key, in lower case. Default: `Authorization: Bearer`. */
  keyHeader?: string;
  /** The body of an error. */
  Failure: z.ZodType;
  toError(error: WireError): { status: number; body: object };
}

/** Writes an error of ours as the other service does. Everything else is unchanged. */
export function toWireResponse(format: WireFormat, response: LambdaResponse): LambdaResponse {
  const { statusCode = 200, body = "" } = response;
  const problem = statusCode >= 400 ? parseJson(body) : undefined;
  if (!isObject(problem) || typeof problem.error !== "string") return response;
  const [first] = Array.isArray(problem.details) ? (problem.details as unknown[]) : [];
  const { status, body: wireBody } = format.toError({
    status: statusCode,
    code: String(problem.code),
    message: problem.error,
    field: isObject(first) && first.path ? String(first.path) : undefined,
  });
  return { ...response, statusCode: status, body: JSON.stringify(wireBody) };
}
